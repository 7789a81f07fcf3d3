import { assert, describe, it } from "@effect/vitest"
import { adviceFor } from "../../src/sandbox/BubblewrapFailure.ts"
import { doctorLines } from "../../src/sandbox/Doctor.ts"

const linux = { platform: "linux", processor: "x64" }

describe("Doctor", () => {
  it("says what works", () => {
    assert.deepStrictEqual(
      doctorLines({
        machine: linux,
        sandbox: { _tag: "Available", kind: "bubblewrap", version: "0.8.0" },
        programs: { git: "/usr/bin/git", rg: "/usr/bin/rg", setpriv: "/usr/bin/setpriv" },
      }),
      [
        { state: "ok", text: "sandbox: bubblewrap 0.8.0" },
        { state: "ok", text: "git: /usr/bin/git" },
        { state: "ok", text: "rg: /usr/bin/rg" },
        { state: "ok", text: "setpriv: /usr/bin/setpriv" },
      ],
    )
  })

  it("says what is missing and what brings it", () => {
    const lines = doctorLines({
      machine: linux,
      sandbox: { _tag: "Unavailable", reason: "no bwrap\nmore", advice: "install it" },
      programs: {},
    })
    assert.deepStrictEqual(
      lines.map(({ state }) => state),
      ["broken", "missing", "missing", "missing"],
    )
    assert.strictEqual(lines[0]?.text, "sandbox: no bwrap; install it")
    assert.include(lines[2]?.text, "apt-get install ripgrep")
  })

  it("asks for no setpriv where there is none", () => {
    const lines = doctorLines({
      machine: { platform: "darwin", processor: "arm64" },
      sandbox: { _tag: "Available", kind: "seatbelt", version: "0.0.83" },
      programs: {},
    })
    assert.deepStrictEqual(lines.length, 3)
    assert.include(lines[1]?.text, "brew install git")
  })

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
