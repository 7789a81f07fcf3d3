import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

const stdoutModule = new URL("../src/Stdout.ts", import.meta.url).href

const program = `
  const kept = console.log
  console.log("before")
  const process_ = await import("node:process")
  const { takeStdout } = await import(${JSON.stringify(stdoutModule)})
  const frames = takeStdout()
  console.log("1"); console.info("2"); console.debug("3"); console.table([4]); console.dir("5"); console.group("6")
  kept("7"); process.stdout.write("8\\n"); process_.stdout.write("9\\n")
  frames.write("frame\\n")
  takeStdout().write(takeStdout() === frames ? "same\\n" : "another\\n")
`

describe("Stdout", () => {
  it("L9 once reserved, standard output carries frames only, whatever code prints", async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      "--input-type=module",
      "--eval",
      program,
    ])
    assert.strictEqual(stdout, "before\nframe\nsame\n")
    for (const printed of ["1", "2", "3", "4", "5", "6", "7", "8", "9"]) {
      assert.include(stderr, printed)
    }
  })
})
