/**
 * The built program. Live tests run the bundle that users get: a missing bundle is built, an existing one is never
 * rebuilt.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

export const entry = path("../../bin/colloquy.mjs")

/** Builds the bundle if it is missing; for use in `beforeAll`. */
export const buildIfMissing = (): void => {
  if (existsSync(path("../../dist/colloquy.mjs"))) return
  execFileSync("npm", ["run", "build"], { cwd: path("../../../.."), stdio: "ignore" })
}
