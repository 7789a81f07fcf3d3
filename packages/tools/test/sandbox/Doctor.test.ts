import { assert, describe, it } from "@effect/vitest"
import { adviceFor } from "../../src/sandbox/linux/BubblewrapFailure.ts"
import { doctorLines } from "../../src/sandbox/Doctor.ts"
import { namedPipesOf } from "../../src/sandbox/linux/Landlock.ts"

const linux = { platform: "linux", processor: "x64" }

describe("Doctor", () => {
  it("reports what works", () => {
    assert.deepStrictEqual(
      doctorLines({
        machine: linux,
        sandbox: {
          _tag: "Available",
          kind: "bubblewrap",
          version: "0.8.0",
          namedPipes: { _tag: "Closed", by: "Landlock through /usr/bin/setpriv" },
        },
        programs: { git: "/usr/bin/git", rg: "/usr/bin/rg" },
      }),
      [
        { state: "ok", text: "sandbox: bubblewrap 0.8.0" },
        {
          state: "ok",
          text: "named pipes: Landlock through /usr/bin/setpriv keeps commands from writing to those outside the writable roots",
        },
        { state: "ok", text: "git: /usr/bin/git" },
        { state: "ok", text: "rg: /usr/bin/rg" },
      ],
    )
  })

  it("reports what is missing and how to install it", () => {
    const lines = doctorLines({
      machine: linux,
      sandbox: { _tag: "Unavailable", reason: "no bwrap\nmore", advice: "install it" },
      programs: {},
    })
    assert.deepStrictEqual(
      lines.map(({ state }) => state),
      ["broken", "missing", "missing"],
    )
    assert.strictEqual(lines[0]?.text, "sandbox: not available: no bwrap. Advice: install it.")
    assert.include(lines[2]?.text, "apt-get install ripgrep")
  })

  it("names the tool that installs programs on the system", () => {
    const lines = doctorLines({
      machine: { platform: "darwin", processor: "arm64" },
      sandbox: {
        _tag: "Available",
        kind: "seatbelt",
        version: "0.0.83",
        namedPipes: { _tag: "Closed", by: "Seatbelt" },
      },
      programs: {},
    })
    assert.deepStrictEqual(lines.length, 4)
    assert.include(lines[2]?.text, "brew install git")
  })

  const attempts: ReadonlyArray<readonly [code: number, text: string, advice: string]> = [
    [1, "setpriv: unrecognized option '--landlock-access'", "util-linux 2.40 or newer"],
    [1, "colloquy-launch: landlock_create_ruleset failed: Function not implemented", "Linux 5.19"],
    [1, "", "Linux 5.19"],
  ]
  for (const [code, text, advice] of attempts) {
    it(`L15 reports that commands can write to named pipes, and how to prevent it: ${text || "no message"}`, () => {
      const lines = doctorLines({
        machine: linux,
        sandbox: {
          _tag: "Available",
          kind: "bubblewrap",
          version: "0.8.0",
          namedPipes: namedPipesOf("/usr/bin/setpriv", code, text),
        },
        programs: {},
      })
      assert.strictEqual(lines[1]?.state, "missing")
      assert.include(lines[1]?.text, "commands can write to those outside the writable roots")
      assert.include(lines[1]?.text, advice)
    })
  }

  const reasons: ReadonlyArray<readonly [reason: string, advice: string]> = [
    ["bubblewrap (bwrap) was not found", "apt-get install bubblewrap"],
    ["bwrap: Unknown option --disable-userns", "0.8 or newer"],
    ["bwrap: Creating new namespace failed: No space left on device", "max_user_namespaces"],
    ["bwrap: No permissions to create new namespace", "apparmor_restrict_unprivileged_userns"],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor"],
    ["bwrap: setting up uid map: Operation not permitted", "in a container"],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "external-sandbox"],
    ["something new", "external-sandbox"],
  ]
  for (const [reason, advice] of reasons) {
    it(`advises on: ${reason}`, () => {
      assert.include(adviceFor(reason), advice)
    })
  }
})
