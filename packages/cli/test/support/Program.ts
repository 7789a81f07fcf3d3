/** Runs the program to its end, for tests that read what it printed. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("../../bin/colloquy.mjs", import.meta.url))

/** Its exit code and its output. It inherits nothing of this process but the search path. */
export const run = (
  args: ReadonlyArray<string>,
  options: {
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string
    readonly input?: string
  },
): { readonly code: number | null; readonly stdout: string; readonly stderr: string } => {
  const { cwd, env, input = "" } = options
  const { status, stderr, stdout } = spawnSync(process.execPath, [entry, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    input,
    encoding: "utf8",
  })
  return { code: status, stdout, stderr }
}
