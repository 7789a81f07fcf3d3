/** Runs the tools of a release. They are those that npm installed, before those of the machine. */
import { spawn } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./Workspace.ts"

/** What a program has left. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  /** Standard output and standard error together, as a person would have seen them. */
  readonly output: string
}

/** Runs a program to its end. Rejects only when it cannot be started. */
export const runProgram = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const path = [join(root, "node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter)
    const child = spawn(command, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: path, npm_config_loglevel: "error" },
    })
    let [stdout, output] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, output: output.trim() }))
  })
