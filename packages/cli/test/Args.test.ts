import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Args from "../src/Args.ts"

const read = (...args: ReadonlyArray<string>) =>
  Result.match(Args.parse(args), { onSuccess: (value) => value, onFailure: (e) => e.message })

describe("Args", () => {
  for (const [args, invocation] of [
    [[], { _tag: "Help" }],
    [["help"], { _tag: "Help" }],
    [["help", "mcp"], { _tag: "Help" }],
    [["--help"], { _tag: "Help" }],
    [["mcp", "-h"], { _tag: "Help" }],
    [["-V"], { _tag: "Version" }],
    [["demo", "--version"], { _tag: "Version" }],
    [["doctor"], { _tag: "Doctor" }],
    [["mcp"], { _tag: "Mcp", overrides: [] }],
    [["mcp-server"], { _tag: "Mcp", overrides: [] }],
    [["mcp", "serve"], { _tag: "Mcp", overrides: [] }],
    [
      ["-c", "a=1", "mcp", "--config", "b=2", "--config=c=3", "-cd=4"],
      { _tag: "Mcp", overrides: ["a=1", "b=2", "c=3", "d=4"] },
    ],
    [["demo", "-c", "--help"], { _tag: "Demo", overrides: ["--help"] }],
  ] as const) {
    it(`"${args.join(" ")}" asks for ${invocation._tag}`, () => {
      assert.deepStrictEqual(read(...args), invocation)
    })
  }

  for (const [args, message] of [
    [["dmo"], "unknown command `dmo`, did you mean `demo`?"],
    [["serve-me"], "unknown command `serve-me`"],
    [["mcp", "--confg", "a=1"], "unknown option `--confg`, did you mean `--config`?"],
    [["mcp", "-config=a=1"], "unknown option `-config`, did you mean `--config`?"],
    [["--verbose-output"], "unknown option `--verbose-output`"],
    [["mcp", "now"], "unexpected argument `now`"],
    [["mcp", "-c"], "`-c` needs a value: `-c key=value`"],
    [["a\nb\u001b[1m"], "unknown command `a\\nb\\u001b[1m`"],
  ] as const) {
    it(`"${JSON.stringify(args)}" is refused in one line`, () => {
      assert.strictEqual(read(...args), message)
    })
  }
})
