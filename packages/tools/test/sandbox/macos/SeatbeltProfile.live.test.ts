/** Tests the profile that the library writes from the rules. Only its text, because these tests do not run on macOS. */
import { assert, describe, it } from "@effect/vitest"
import { wrapCommandWithSandboxMacOS } from "@anthropic-ai/sandbox-runtime/dist/sandbox/macos-sandbox-utils.js"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { withSystemPath } from "../../../src/sandbox/NodeFiles.ts"
import { launchArgv, seatbeltRules } from "../../../src/sandbox/macos/SeatbeltArgv.ts"

const line = (network: boolean): string =>
  wrapCommandWithSandboxMacOS({
    command: "exec 'true'",
    commandId: "colloquy",
    binShell: "/bin/bash",
    ...seatbeltRules(
      ["/w"],
      [
        { path: "/w/.git", kind: "empty" },
        { path: "/home/u/.colloquy", kind: "hiddenDirectory" },
      ],
      network,
    ),
  })

const rules = (text: string, verb: string): string =>
  text
    .split("\n")
    .filter((part) => part.includes(verb))
    .join("\n")

/** True when a `which` that comes first on the PATH of this process is run while `call` runs. */
const runsPlantedWhich = (call: () => unknown): boolean => {
  const directory = Fs.mkdtempSync(join(tmpdir(), "colloquy-which-"))
  const { PATH } = process.env
  try {
    const planted = `#!/bin/sh\n: > ${directory}/ran\nexec /usr/bin/which "$@"\n`
    Fs.writeFileSync(join(directory, "which"), planted, { mode: 0o755 })
    process.env["PATH"] = `${directory}:${PATH}`
    call()
    assert.strictEqual(process.env["PATH"], `${directory}:${PATH}`)
    return Fs.existsSync(join(directory, "ran"))
  } finally {
    process.env["PATH"] = PATH
    Fs.rmSync(directory, { recursive: true })
  }
}

describe("SeatbeltProfile", () => {
  it("L15 the library finds no `which` that was planted on PATH", () => {
    assert.isTrue(runsPlantedWhich(() => line(false)))
    assert.isFalse(runsPlantedWhich(() => withSystemPath(() => line(false))))
  })

  it("L15 denies by default, opens only the roots, and closes the protected paths in them", () => {
    const text = line(false)
    assert.isDefined(launchArgv(text))
    assert.include(text, "(deny default")
    assert.notInclude(text, "(allow file-write*)")
    assert.match(text, /\(allow file-write\*[^)]*\n?\s*\(subpath "\/w"\)/)
    assert.match(text, /\(deny file-write\*[\s\S]*\/w\/\.git/)
    assert.match(text, /\(deny file-read\*[\s\S]*\/home\/u\/\.colloquy/)
  })

  it("L15 has no rule that opens the network unless the policy does", () => {
    assert.notInclude(rules(line(false), "(allow network"), "(allow network*)")
    assert.include(line(true), "(allow network*)")
  })
})
