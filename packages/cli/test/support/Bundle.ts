/** The built program. Live tests drive what users get, so a missing bundle is built, and a present one is left alone. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

export const entry = path("../../bin/colloquy.mjs")

/** For `beforeAll`. */
export const buildIfMissing = (): void => {
  if (existsSync(path("../../dist/colloquy.mjs"))) return
  execFileSync("npm", ["run", "build"], { cwd: path("../../../.."), stdio: "ignore" })
}
