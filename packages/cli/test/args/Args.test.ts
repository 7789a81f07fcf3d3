import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { AskForApproval, SandboxMode } from "@colloquy/protocol/Policy"
import * as Args from "../../src/args/Args.ts"
import * as Options from "../../src/args/Options.ts"
import { contracts } from "../../src/commands/Contracts.ts"

const read = (...args: ReadonlyArray<string>) =>
  Result.match(Args.parse(args), { onSuccess: (value) => value, onFailure: (e) => e.message })

const flag = (option: string, value: string, key = option) => ({
  option: `--${option}`,
  key,
  value,
})

describe("Args", () => {
  it("the values of --sandbox and --ask-for-approval are those of the configuration", () => {
    assert.deepStrictEqual([...Options.sandboxModes], [...SandboxMode.literals])
    assert.deepStrictEqual([...Options.approvalPolicies], [...AskForApproval.literals])
  })

  it("the dialects that can be named are all that exist", () => {
    assert.deepStrictEqual(
      [...Args.dialects],
      contracts().map(({ dialect }) => dialect),
    )
  })

  for (const [args, invocation] of [
    [[], { _tag: "Help" }],
    [["help"], { _tag: "Help" }],
    [["help", "mcp"], { _tag: "Help", topic: ["mcp"] }],
    [["help", "sessions", "list"], { _tag: "Help", topic: ["sessions", "list"] }],
    [["--help"], { _tag: "Help" }],
    [["mcp", "-h"], { _tag: "Help", topic: ["mcp"] }],
    [["-V"], { _tag: "Version", overrides: [] }],
    [["-c", "a=1", "-V", "exec", "--json"], { _tag: "Version", overrides: ["a=1"] }],
    [["demo", "--version", "-c", "a=1"], { _tag: "Version", overrides: ["a=1"] }],
    [["doctor"], { _tag: "Doctor", overrides: [] }],
    [["doctor", "-C", "x", "-c", "a=1"], { _tag: "Doctor", overrides: ["a=1"], directory: "x" }],
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
    [["generate-ts", "--help"], { _tag: "Help", topic: ["generate-ts"] }],
    [["generate-docs", "-o", "x"], { _tag: "Generate", format: "docs", out: "x" }],
    [["--out=y", "generate-json-schema"], { _tag: "Generate", format: "json-schema", out: "y" }],
    [
      [
        "serve",
        "--cluster",
        "postgres://u@h/d",
        "--cluster-listen=[::1]:5",
        "--listen",
        "http://h:1",
      ],
      {
        _tag: "Serve",
        served: "all",
        address: { scheme: "http", host: "h", port: 1 },
        overrides: [],
        flags: [
          flag("cluster", "postgres://u@h/d", "cluster.database"),
          flag("cluster-listen", "[::1]:5", "cluster.listen"),
        ],
      },
    ],
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
    [["mcp", "--no-events", "--help"], { _tag: "Help", topic: ["mcp"] }],
    ...(["mcp", "mcp-server", "app-server"] as const).flatMap((command) => {
      const _tag = command === "app-server" ? "AppServer" : "Mcp"
      const flags = [
        flag("model", "gpt-5"),
        flag("sandbox", "workspace-write", "sandbox_mode"),
        flag("ask-for-approval", "never", "approval_policy"),
        flag("profile", "work"),
      ]
      const short = ["-m", "gpt-5", "-s", "workspace-write", "-a", "never", "-p", "work"]
      const long = ["--model=gpt-5", "--sandbox", "workspace-write"]
      const rest = ["--ask-for-approval=never", "--profile", "work"]
      const launch = { _tag, overrides: ["a=1"], flags, directory: "/tmp" } as const
      return [
        [[...short, "-C", "/tmp", "-c", "a=1", command], launch],
        [[...long, ...rest, "--cd=/tmp", "-c", "a=1", command, "--listen", "stdio://"], launch],
        [
          ["--listen=stdio://", "-mgpt-5", ...long.slice(1), command, ...rest, "-C/tmp", "-ca=1"],
          launch,
        ],
      ] as const
    }),
    [
      ["-m", "gpt-5", "mcp", "serve"],
      { _tag: "Mcp", overrides: [], flags: [flag("model", "gpt-5")] },
    ],
    [
      ["mcp", "-m", "serve", "serve", "-c", "a=1"],
      { _tag: "Mcp", overrides: ["a=1"], flags: [flag("model", "serve")] },
    ],
    [["mcp", "--listen", "stdio://", "serve"], { _tag: "Mcp", overrides: [] }],
    [
      ["serve", "-c", "a=1", "--no-events"],
      {
        _tag: "Serve",
        served: "all",
        address: { scheme: "http", host: "127.0.0.1", port: 8747 },
        overrides: ["a=1", "mcp_events=off"],
      },
    ],
    [
      ["mcp", "--listen", "HTTPS://[::1]:0/"],
      {
        _tag: "Serve",
        served: "mcp",
        address: { scheme: "https", host: "::1", port: 0 },
        overrides: [],
      },
    ],
    [
      ["app-server", "--listen=ws://Localhost:65535", "-C", "/tmp"],
      {
        _tag: "Serve",
        served: "app-server",
        address: { scheme: "ws", host: "localhost", port: 65_535 },
        overrides: [],
        directory: "/tmp",
      },
    ],
    [["-m", 'a"b', "demo"], { _tag: "Demo", overrides: [], flags: [flag("model", 'a"b')] }],
    [["config", "-C", "x"], { _tag: "Config", overrides: [], directory: "x" }],
    [["demo", "-c", "--help=1"], { _tag: "Demo", overrides: ["--help=1"] }],
  ] as const) {
    it(`"${args.join(" ")}" asks for ${invocation._tag}`, () => {
      assert.deepStrictEqual(read(...args), invocation)
    })
  }

  for (const [args, message] of [
    [["dmo"], "unknown command `dmo`, did you mean `demo`?"],
    [["serve-me"], "unknown command `serve-me`, did you mean `serve`?"],
    [["mcp", "--confg", "a=1"], "unknown option `--confg`, did you mean `--config`?"],
    [["mcp", "-config=a=1"], "unknown option `-config`, did you mean `--config`?"],
    [["--verbose-output"], "unknown option `--verbose-output`"],
    [["mcp", "--no-event"], "unknown option `--no-event`, did you mean `--no-events`?"],
    [["mcp", "--no-events=1"], "unknown option `--no-events`, did you mean `--no-events`?"],
    [["mcp", "--cluster", "postgres://u@h/d"], "`--cluster` is only valid with `serve`"],
    [
      ["serve", "--cluster", "postgres://h/d"],
      "`--cluster` takes `postgres://user:password@host/database`, with a user, and each special character of a part as `%XX`",
    ],
    [["serve", "--cluster-listen", "h:65536"], "`--cluster-listen` takes `HOST:PORT`"],
    [["serve", "--cluster-address", "h"], "`--cluster-address` takes `HOST:PORT`"],
    [["app-server", "--no-events"], "`--no-events` is only valid with `mcp` and `serve`"],
    [["demo", "--no-events"], "`--no-events` is only valid with `mcp` and `serve`"],
    [["--no-events", "doctor"], "`--no-events` is only valid with `mcp` and `serve`"],
    [
      ["mcp", "-o", "x"],
      "`--out` is only valid with `generate-ts`, `generate-json-schema` and `generate-docs`",
    ],
    ...["generate-ts", "generate-json-schema", "generate-docs"].flatMap((command) =>
      [
        [command, "-c", "model=x"],
        ["--config=model=x", command],
        ["-cmodel=x", command],
      ].map(
        (args) =>
          [
            args,
            `\`--config\` and the options that set one key are not valid with \`${command}\`, which reads no configuration`,
          ] as const,
      ),
    ),
    ...["generate-ts", "generate-json-schema"].map(
      (command) =>
        [
          [command],
          `\`${command}\` prints one dialect: name it (\`app-server\`, \`app-server-v2\` or \`codex-mcp\`), or write all with \`-o DIRECTORY\``,
        ] as const,
    ),
    [["generate-ts", "appserver"], "unknown dialect `appserver`, did you mean `app-server`?"],
    [
      ["generate-docs", "mcp", "-o", "x"],
      "unknown dialect `mcp`, expected `app-server`, `app-server-v2` or `codex-mcp`",
    ],
    [["generate-ts", "app-server", "codex-mcp"], "unexpected argument `codex-mcp`"],
    [["generate-ts", "-o"], "`-o` needs a value: `-o DIRECTORY`"],
    [
      ["-s", "readonly", "mcp"],
      '`--sandbox` is one of `read-only`, `workspace-write`, `danger-full-access`, not "readonly"; did you mean `read-only`?',
    ],
    [
      ["mcp", "-a", "sometimes"],
      '`--ask-for-approval` is one of `untrusted`, `on-failure`, `on-request`, `never`, not "sometimes"',
    ],
    ...[
      "ws://x",
      "http://127.0.0.1",
      "ftp://a:65536",
      "http://a:1/mcp",
      "http://u@a:1",
      "8080",
    ].map(
      (address) =>
        [
          ["mcp", "--listen", address],
          `\`--listen\` takes \`stdio://\`, \`http://HOST:PORT\`, \`https://HOST:PORT\`, \`ws://HOST:PORT\` or \`wss://HOST:PORT\`, not "${address}"`,
        ] as const,
    ),
    [["mcp", "--listen", "http://a:65536"], "`--listen` takes a port from 0 to 65535, not 65536"],
    [
      ["mcp", "--listen", "ws://localhost:1"],
      "`mcp --listen` takes `stdio://`, `http://` or `https://`, not `ws://`",
    ],
    [
      ["app-server", "--listen", "http://localhost:1"],
      "`app-server --listen` takes `stdio://`, `ws://` or `wss://`, not `http://`",
    ],
    [
      ["serve", "--listen", "stdio://"],
      "`serve --listen` takes `http://` or `https://`, not `stdio://`",
    ],
    [
      ["--listen=stdio://", "demo"],
      "`--listen` is only valid with `mcp`, `app-server` and `serve`",
    ],
    [
      ["-C", "x", "demo"],
      "`--cd` is only valid with `mcp`, `app-server`, `serve`, `config` and `doctor`",
    ],
    [["mcp", "-model=x"], "unknown option `-model`, did you mean `--model`?"],
    [["mcp", "-m"], "`-m` needs a value: `-m MODEL`"],
    [["mcp", "now"], "unexpected argument `now`"],
    [["mcp", "serve", "-m", "x", "serve"], "unexpected argument `serve`"],
    [["mcp-server", "serve"], "unexpected argument `serve`"],
    [["mcp", "-m", ""], "`-m` needs a value: `-m MODEL`"],
    [["--model=", "mcp"], "`--model=` needs a value: `-m MODEL`"],
    [["mcp", "-p", " "], "`-p` needs a value: `-p NAME`"],
    [["--cd", "", "mcp"], "`--cd` needs a value: `-C DIRECTORY`"],
    [["generate-docs", "-o", ""], "`-o` needs a value: `-o DIRECTORY`"],
    [["mcp", "-c", ""], "`-c` needs a value: `-c key=value`"],
    [["mcp", "-c"], "`-c` needs a value: `-c key=value`"],
    [["a\nb\u001b[1m"], "unknown command `a\\nb\\u001b[1m`"],
  ] as const) {
    it(`"${JSON.stringify(args)}" is refused in one line`, () => {
      assert.strictEqual(read(...args), message)
    })
  }
})
