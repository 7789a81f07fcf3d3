import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Args from "../src/Args.ts"
import { contracts } from "../src/Contracts.ts"

const read = (...args: ReadonlyArray<string>) =>
  Result.match(Args.parse(args), { onSuccess: (value) => value, onFailure: (e) => e.message })

describe("Args", () => {
  it("the dialects that can be named are those there are", () => {
    assert.deepStrictEqual(
      [...Args.dialects],
      contracts().map(({ dialect }) => dialect),
    )
  })

  for (const [args, invocation] of [
    [[], { _tag: "Help" }],
    [["help"], { _tag: "Help" }],
    [["help", "mcp"], { _tag: "Help" }],
    [["--help"], { _tag: "Help" }],
    [["mcp", "-h"], { _tag: "Help" }],
    [["-V"], { _tag: "Version" }],
    [["demo", "--version"], { _tag: "Version" }],
    [["doctor"], { _tag: "Doctor" }],
    [["config", "-c", "a=1"], { _tag: "Config", overrides: ["a=1"] }],
    [["generate-docs"], { _tag: "Generate", format: "docs" }],
    [["generate-ts", "codex-mcp"], { _tag: "Generate", format: "ts", dialect: "codex-mcp" }],
    [
      ["generate-json-schema", "app-server"],
      { _tag: "Generate", format: "json-schema", dialect: "app-server" },
    ],
    [
      ["-o", "x", "generate-ts", "app-server"],
      { _tag: "Generate", format: "ts", dialect: "app-server", out: "x" },
    ],
    [["generate-ts", "--help"], { _tag: "Help" }],
    [["generate-docs", "-o", "x"], { _tag: "Generate", format: "docs", out: "x" }],
    [["--out=y", "generate-json-schema"], { _tag: "Generate", format: "json-schema", out: "y" }],
    [["mcp"], { _tag: "Mcp", overrides: [] }],
    [["mcp-server"], { _tag: "Mcp", overrides: [] }],
    [["app-server", "-c", "a=1"], { _tag: "AppServer", overrides: ["a=1"] }],
    [["mcp", "serve"], { _tag: "Mcp", overrides: [] }],
    [
      ["-c", "a=1", "mcp", "--config", "b=2", "--config=c=3", "-cd=4"],
      { _tag: "Mcp", overrides: ["a=1", "b=2", "c=3", "d=4"] },
    ],
    [["mcp", "--no-events"], { _tag: "Mcp", overrides: ["mcp_events=off"] }],
    [
      ["--no-events", "mcp-server", "--no-events", "-c", "mcp_events=twice"],
      { _tag: "Mcp", overrides: ["mcp_events=twice", "mcp_events=off"] },
    ],
    [["mcp", "--no-events", "--help"], { _tag: "Help" }],
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
    [["mcp", "--no-event"], "unknown option `--no-event`, did you mean `--no-events`?"],
    [["mcp", "--no-events=1"], "unknown option `--no-events`, did you mean `--no-events`?"],
    [["app-server", "--no-events"], "`--no-events` goes with `mcp`"],
    [["demo", "--no-events"], "`--no-events` goes with `mcp`"],
    [["--no-events", "doctor"], "`--no-events` goes with `mcp`"],
    [
      ["mcp", "-o", "x"],
      "`--out` goes with `generate-ts`, `generate-json-schema` and `generate-docs`",
    ],
    ...["doctor", "generate-ts", "generate-json-schema", "generate-docs"].flatMap((command) =>
      [
        [command, "-c", "model=x"],
        ["--config=model=x", command],
        ["-cmodel=x", command],
      ].map(
        (args) => [args, `\`--config\` does not go with \`${command}\`, which reads none`] as const,
      ),
    ),
    ...["generate-ts", "generate-json-schema"].map(
      (command) =>
        [
          [command],
          `\`${command}\` prints one dialect: name it (\`app-server\` or \`codex-mcp\`), or write both with \`-o DIRECTORY\``,
        ] as const,
    ),
    [["generate-ts", "appserver"], "unknown dialect `appserver`, did you mean `app-server`?"],
    [
      ["generate-docs", "mcp", "-o", "x"],
      "unknown dialect `mcp`: there are `app-server` and `codex-mcp`",
    ],
    [["generate-ts", "app-server", "codex-mcp"], "unexpected argument `codex-mcp`"],
    [["generate-ts", "-o"], "`-o` needs a value: `-o DIRECTORY`"],
    [["mcp", "now"], "unexpected argument `now`"],
    [["mcp", "-c"], "`-c` needs a value: `-c key=value`"],
    [["a\nb\u001b[1m"], "unknown command `a\\nb\\u001b[1m`"],
  ] as const) {
    it(`"${JSON.stringify(args)}" is refused in one line`, () => {
      assert.strictEqual(read(...args), message)
    })
  }
})
