/** A fresh checkout installed without any script runs the program. */
import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../../..")
const maxInstallMs = 240_000

/** Whether a fresh checkout by git would contain this path. */
const isSource = (path: string) =>
  !["node_modules", "dist", ".git", ".release"].some((name) => path.split("/").includes(name))

it(
  "npm ci --ignore-scripts gives a program that runs the demo",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-checkout-"))
    try {
      cpSync(root, folder, {
        recursive: true,
        filter: (path) => isSource(path.slice(root.length)),
      })
      const npm = (...args: ReadonlyArray<string>) =>
        execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: "pipe" })
      npm("ci", "--ignore-scripts")
      assert.isFalse(existsSync(join(folder, "packages/cli/dist")))
      assert.include(npm("run", "demo"), "All turns completed.")
    } finally {
      rmSync(folder, { recursive: true, maxRetries: 10, force: true })
    }
  },
  maxInstallMs,
)
