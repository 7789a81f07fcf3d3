import { assert, describe, it } from "@effect/vitest"
import {
  launchArgv,
  seatbeltRules,
  shellLine,
  splitForShell,
} from "../../../src/sandbox/macos/SeatbeltArgv.ts"

describe("SeatbeltArgv", () => {
  it("L15 names each path as a name: roots writable, protected paths not, secrets not even readable", () => {
    assert.deepStrictEqual(
      seatbeltRules(
        ["/w", "/v[1]"],
        [
          { path: "/w/.git", kind: "empty" },
          { path: "/v[1]", kind: "frozen", entries: ["/v[1]/a"] },
          { path: "/home/u/.colloquy", kind: "hiddenDirectory" },
        ],
        false,
      ),
      {
        needsNetworkRestriction: true,
        readConfig: { denyOnly: [], literalDenyOnly: ["/home/u/.colloquy"] },
        writeConfig: {
          allowOnly: [],
          literalAllowOnly: ["/w", "/v[1]"],
          denyWithinAllow: [],
          literalDenyWithinAllow: ["/w/.git", "/v[1]/.git", "/home/u/.colloquy"],
        },
      },
    )
  })

  it("quotes every word of the program", () => {
    assert.strictEqual(
      shellLine(["echo", "it's $(x)", ""], { BASH_ENV: "/w/e" }, "/t"),
      `export TMPDIR='/t'; export BASH_ENV='/w/e'; exec 'echo' 'it'\\''s $(x)' ''`,
    )
    assert.strictEqual(shellLine(["a"], {}, undefined), "unset TMPDIR; exec 'a'")
  })

  it("L15 withholds variables that would run code in the shell outside", () => {
    assert.deepStrictEqual(
      splitForShell({
        PATH: "/w/bin",
        BASH_ENV: "/w/e",
        DYLD_INSERT_LIBRARIES: "/w/x",
        "BASH_FUNC_env%%": "() { evil; }",
      }),
      {
        outside: { PATH: "/w/bin" },
        inside: { BASH_ENV: "/w/e", DYLD_INSERT_LIBRARIES: "/w/x" },
      },
    )
  })

  it("L15 accepts no unknown line", () => {
    assert.deepStrictEqual(launchArgv("env A=b /usr/bin/sandbox-exec -p x"), [
      "/bin/bash",
      "--noprofile",
      "--norc",
      "-c",
      "exec /usr/bin/env A=b /usr/bin/sandbox-exec -p x",
    ])
    assert.deepStrictEqual(launchArgv("rm -rf /"), undefined)
  })
})
