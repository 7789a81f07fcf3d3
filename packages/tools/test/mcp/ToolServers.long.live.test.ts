import type { Elicitation } from "@colloquy/core/approvals/Approval"
import type { ConversationSettings, McpServer } from "@colloquy/core/ConversationSettings"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import * as DirectServers from "../../src/mcp/DirectServers.ts"
import type { Ask } from "../../src/mcp/ToolConnection.ts"
import { type OpenServers, ToolServers } from "../../src/mcp/ToolServers.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { isRunning } from "../support/Census.ts"

const script = Path.join(import.meta.dirname, "fixtures/server.mjs")

const stdio = (
  vice = "none",
  more: { readonly env?: Record<string, string>; readonly toolTimeout?: Duration.Duration } = {},
): McpServer => ({
  transport: {
    _tag: "Stdio",
    command: process.execPath,
    args: [script, vice],
    env: more.env ?? {},
  },
  startupTimeout: Duration.seconds(vice === "hang" ? 1 : 15),
  toolTimeout: more.toolTimeout ?? Duration.seconds(15),
})

const services = ToolServers.layer().pipe(
  Layer.provideMerge(TrustedPrograms.layer({ environment: {} })),
  Layer.provide(NodeServices.layer),
)

/** Opens one tool server named `s`, lists its tools and then runs the test's effect. */
const withServer = <A, E>(
  server: McpServer,
  use: (
    open: OpenServers,
    names: ReadonlyArray<string>,
  ) => Effect.Effect<A, E, ToolServers | Scope.Scope>,
  ask?: Ask,
) =>
  Effect.gen(function* () {
    const servers = yield* ToolServers
    const open = yield* servers.open({ s: server }, ask)
    const { failures, tools } = yield* open.tools
    assert.deepStrictEqual(failures, [])
    return yield* use(
      open,
      tools.map(({ qualifiedName }) => qualifiedName),
    )
  }).pipe(Effect.scoped, Effect.provide(services))

const failureOf = (server: McpServer) =>
  Effect.gen(function* () {
    const servers = yield* ToolServers
    const open = yield* servers.open({ s: server })
    const { failures, tools } = yield* open.tools
    assert.deepStrictEqual(tools, [])
    return failures.map(({ message }) => message).join()
  }).pipe(Effect.scoped, Effect.provide(services))

const call = (open: OpenServers, tool: string, args = "", events: Array<EventMsg> = []) =>
  open.call({
    callId: "c1",
    qualifiedName: `s__${tool}`,
    arguments: args,
    emit: (msg) => Effect.sync(() => void events.push(msg)),
  })

const textOutput = (text: string) => JSON.stringify([{ type: "text", text }])

/** A separate process that starts a server which ignores the end of its input, and prints its process id. */
const killable = `
  import * as NodeServices from "@effect/platform-node/NodeServices"
  import * as Duration from "effect/Duration"
  import * as Effect from "effect/Effect"
  import * as Layer from "effect/Layer"
  const { ToolServers } = await import(${JSON.stringify(Path.join(import.meta.dirname, "../../src/mcp/ToolServers.ts"))})
  const limit = Duration.seconds(15)
  const transport = { _tag: "Stdio", command: process.execPath, args: [${JSON.stringify(script)}, "stays"], env: {} }
  const program = Effect.gen(function* () {
    const servers = yield* ToolServers
    const open = yield* servers.open({ s: { transport, startupTimeout: limit, toolTimeout: limit } })
    yield* open.tools
    console.log(yield* open.call({ callId: "c", qualifiedName: "s__pid", arguments: "", emit: () => Effect.void }))
    yield* Effect.never
  })
  const { TrustedPrograms } = await import(${JSON.stringify(Path.join(import.meta.dirname, "../../src/programs/TrustedPrograms.ts"))})
  const services = ToolServers.layer().pipe(
    Layer.provide(TrustedPrograms.layer({ environment: {} })),
    Layer.provide(NodeServices.layer),
  )
  await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(services)))
`

describe("ToolServers over stdio", () => {
  it.live("a call is answered, with an event before and after", () =>
    withServer(stdio(), (open, names) =>
      Effect.gen(function* () {
        assert.include(names, "s__echo")
        const events: Array<EventMsg> = []
        assert.strictEqual(yield* call(open, "echo", '{"text":"hi"}', events), textOutput("hi"))
        const invocation = { server: "s", tool: "echo", arguments: { text: "hi" } }
        const [begin, end] = events
        assert.deepStrictEqual(begin, { type: "mcp_tool_call_begin", call_id: "c1", invocation })
        assert.deepStrictEqual(
          { ...end, duration: undefined },
          {
            type: "mcp_tool_call_end",
            call_id: "c1",
            invocation,
            duration: undefined,
            result: { Ok: { content: [{ type: "text", text: "hi" }] } },
          },
        )
      }),
    ),
  )

  it.live("clients read resources and call tools in the process that a turn uses", () =>
    withServer(stdio(), (open) =>
      Effect.gen(function* () {
        const direct = DirectServers.make(yield* ToolServers, () => Effect.void)
        const settings = { mcpServers: { s: stdio() } } as unknown as ConversationSettings
        const [{ text: pid }] = JSON.parse(yield* call(open, "pid"))
        const read = yield* direct.read(settings, { server: "s", uri: "pid:" })
        assert.deepStrictEqual(read, { contents: [{ uri: "pid:", text: pid }] })
        const called = yield* direct.call(settings, { server: "s", tool: "pid" })
        assert.deepStrictEqual(called, { content: [{ type: "text", text: pid }] })
        const { s } = yield* direct.describe(settings, false)
        assert.isDefined(s)
        const contents = Result.getOrThrow(s)
        assert.deepStrictEqual(contents.resources, [{ uri: "pid:", name: "pid" }])
        // The server has no such method.
        assert.deepStrictEqual(contents.resourceTemplates, [])
      }),
    ),
  )

  it.live("structured content, errors of the tool and its JSON-RPC errors reach the model", () =>
    withServer(stdio(), (open) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* call(open, "structured"), '{"sum":3}')
        assert.strictEqual(yield* call(open, "is_error"), textOutput("no such city"))
        assert.strictEqual(
          yield* call(open, "nothing_like_it"),
          "unsupported call: s__nothing_like_it",
        )
        assert.match(yield* call(open, "echo", "{"), /^err: failed to parse function arguments: /)
      }),
    ),
  )

  it.live("the environment is what was configured and what programs need", () =>
    withServer(stdio("none", { env: { MINE: "1" } }), (open) =>
      Effect.gen(function* () {
        const [{ text }] = JSON.parse(yield* call(open, "env"))
        const env = JSON.parse(text)
        assert.strictEqual(env.MINE, "1")
        assert.strictEqual(env.PATH, "/usr/bin:/bin")
        assert.notProperty(env, "OPENAI_API_KEY")
      }),
    ).pipe(
      Effect.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({ PATH: "/usr/bin:/bin", OPENAI_API_KEY: "sk-secret" }),
        ),
      ),
    ),
  )

  it.live("lines that are not messages are skipped", () =>
    withServer(stdio("garbage"), (open) =>
      Effect.map(call(open, "echo"), (output) => assert.strictEqual(output, textOutput("nothing"))),
    ),
  )

  it.live("a server of an older revision is supported", () =>
    withServer(stdio("old"), (open) =>
      Effect.map(call(open, "echo"), (output) => assert.strictEqual(output, textOutput("nothing"))),
    ),
  )

  it.live("an invalid definition of a tool removes only that tool", () =>
    withServer(stdio("lies"), (open, names) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(names, ["s__bad_hints", "s__echo", "s__network", "s__no_schema"])
        assert.strictEqual(open.isReadOnly("s__echo"), true)
        assert.strictEqual(open.isReadOnly("s__network"), false)
        const list = yield* open.list
        assert.deepStrictEqual(list["s__echo"]?.description, "does echo")
        assert.deepStrictEqual(list["s__no_schema"]?.inputSchema, {
          type: "object",
          properties: {},
        })
        assert.deepStrictEqual(list["s__network"]?.inputSchema, {
          type: "object",
          properties: { a: { type: "string" } },
        })
      }),
    ),
  )

  it.live.each([
    ["broken", /^err: "tool call error: /],
    [
      "deep",
      /^err: "tool call error: the result is nested deeper than 256 levels \(code -32603\)"$/,
    ],
    [
      "too_big",
      /^err: "tool call error: the response cannot be read: a line of 178\d{5} bytes, the limit is 16777216 \(code -32603\)"$/,
    ],
    [
      "flood",
      /^err: "tool call error: the tool server `s` was stopped: it sent more than 32 MiB that belongs to no call /,
    ],
    ["die", /^err: "tool call error: the tool server `s` ended with exit code 3"$/],
  ] as const)(
    "a result that is %s is a clear failure for the model, and the server serves again",
    ([tool, output]) =>
      withServer(stdio(), (open) =>
        Effect.gen(function* () {
          assert.match(yield* call(open, tool), output)
          assert.strictEqual(yield* call(open, "echo"), textOutput("nothing"))
        }),
      ),
  )

  it.live("a large result is cut", () =>
    withServer(stdio(), (open) =>
      Effect.map(call(open, "big"), (output) => {
        assert.match(output, /\n\[\d+ of 3145\d{3} bytes omitted\]$/)
        assert.isBelow(output.length, 1024 * 1024 + 100)
      }),
    ),
  )

  it.live("a call that hangs ends at its time limit, and the server keeps running", () =>
    withServer(stdio("none", { toolTimeout: Duration.millis(300) }), (open) =>
      Effect.gen(function* () {
        const pid = yield* call(open, "pid")
        const output = 'err: "tool call error: timed out awaiting tools/call after 0.3 s"'
        assert.strictEqual(yield* call(open, "hang"), output)
        assert.strictEqual(yield* call(open, "pid"), pid)
      }),
    ),
  )

  it.live("a server that died between calls is restarted by the next call", () =>
    withServer(stdio(), (open) =>
      Effect.gen(function* () {
        const pid = yield* call(open, "pid")
        assert.strictEqual(yield* call(open, "die_later"), textOutput("dying"))
        yield* Effect.sleep("300 millis")
        const again = yield* call(open, "pid")
        assert.match(again, /^\[\{"type":"text","text":"\d+"\}\]$/)
        assert.notStrictEqual(again, pid)
      }),
    ),
  )

  it.live("a server that hangs at its start is abandoned after its time limit", () =>
    Effect.map(failureOf(stdio("hang")), (message) =>
      assert.strictEqual(
        message,
        "MCP client for `s` failed to start: it did not start within 1 s",
      ),
    ),
  )

  it.live("a server that ends at its start is reported with the reason, without its secrets", () =>
    Effect.map(failureOf(stdio("exit", { env: { SECRET_TOKEN: "tok-123456" } })), (message) =>
      assert.strictEqual(
        message,
        "MCP client for `s` failed to start: the tool server `s` ended with exit code 7; its error output ends with: cannot start: [redacted]",
      ),
    ),
  )

  it.live("a server with an unknown revision, or that sends without end, is refused", () =>
    Effect.gen(function* () {
      assert.match(yield* failureOf(stdio("unknown_revision")), /does not support/)
      assert.match(
        yield* failureOf(stdio("endless_line")),
        /more than 32 MiB that belongs to no call/,
      )
    }),
  )

  it.live.each([
    ["flood", "was stopped: it sent more than 32 MiB that belongs to no call"],
    ["die", "ended with exit code 3"],
    ["many_pings", undefined],
    ["array", undefined],
  ] as const)(
    "L13 L1 a call of a server that does %s ends at once, and a reason is in the error and the log",
    ([tool, reason]) => {
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        logged.push(`${logLevel} ${[message].flat().map(String).join(" ")}`)
      })
      return withServer(stdio(), (open) =>
        Effect.gen(function* () {
          const output = yield* call(open, tool)
          // Starts the tool server again if it has ended, which waits until its end is logged.
          yield* call(open, "echo")
          if (reason === undefined) {
            assert.strictEqual(output, textOutput("done"))
            assert.deepStrictEqual(logged, [])
            return
          }
          assert.include(output, `the tool server \`s\` ${reason}`)
          assert.lengthOf(logged, 1)
          assert.include(logged.join(), `Warn the tool server \`s\` ${reason}`)
        }),
      ).pipe(Effect.provide(Logger.layer([logger])))
    },
  )

  it.live("a program that does not exist is named", () =>
    Effect.map(
      failureOf({
        ...stdio(),
        transport: { _tag: "Stdio", command: "no-such-program", args: [], env: {} },
      }),
      (message) =>
        assert.strictEqual(
          message,
          "MCP client for `s` failed to start: cannot run `no-such-program`: no such program or directory",
        ),
    ),
  )

  it.live("a question of the server is put to a person, and the answer is returned", () => {
    const seen: Array<Elicitation> = []
    const ask: Ask = (request) =>
      Effect.sync(() => {
        seen.push(request)
        return { action: "accept", content: { age: 7 } }
      })
    return withServer(
      stdio(),
      (open) =>
        Effect.gen(function* () {
          assert.strictEqual(
            yield* call(open, "ask"),
            textOutput('{"action":"accept","content":{"age":7}}'),
          )
          assert.deepStrictEqual(seen, [
            {
              server: "s",
              message: "How old?",
              requestedSchema: { type: "object", properties: { age: { type: "integer" } } },
            },
          ])
        }),
      ask,
    )
  })

  it.live("questions are declined when no client can answer", () =>
    withServer(stdio(), (open) =>
      Effect.map(call(open, "ask"), (output) =>
        assert.strictEqual(output, textOutput('{"action":"decline"}')),
      ),
    ),
  )

  it.live("L14 an interrupted call ends at once and the server is notified", () =>
    withServer(stdio(), (open) =>
      Effect.gen(function* () {
        const events: Array<EventMsg> = []
        const fiber = yield* Effect.forkChild(call(open, "hang", "", events))
        yield* Effect.sleep("200 millis")
        const [took] = yield* Effect.timed(Fiber.interrupt(fiber))
        // A loaded machine takes its time; the time limit of the call is six times this.
        assert.isBelow(Duration.toMillis(took), 10_000)
        assert.deepStrictEqual(
          events.map(({ type }) => type),
          ["mcp_tool_call_begin", "mcp_tool_call_end"],
        )
      }),
    ),
  )

  it.live("L8 nothing of a server outlives its scope, also when it ignores the signal to end", () =>
    Effect.gen(function* () {
      const pid = yield* withServer(stdio("stays"), (open) =>
        Effect.map(call(open, "pid"), (output): number => Number(/\d+/.exec(output)?.[0])),
      )
      assert.isAbove(pid, 0)
      assert.isFalse(isRunning(pid))
      const left = ChildProcess.spawnSync("ps", ["-eo", "pgid="], { encoding: "utf8" }).stdout
      assert.notInclude(
        left.split("\n").map((line) => line.trim()),
        String(pid),
      )
    }),
  )

  it.live("L8 nothing of a tool server outlives this process when it is killed", () =>
    Effect.gen(function* () {
      const own = ChildProcess.spawn(process.execPath, ["--input-type=module", "-e", killable], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      const text = yield* Effect.callback<string>((resume) => {
        own.stdout.once("data", (chunk) => resume(Effect.succeed(String(chunk))))
      })
      const pid = Number(/\d+/.exec(text)?.[0])
      assert.isTrue(isRunning(pid))
      own.kill("SIGKILL")
      yield* Effect.whileLoop({
        while: () => isRunning(pid),
        body: () => Effect.sleep("20 millis"),
        step: () => undefined,
      }).pipe(Effect.timeout("5 seconds"))
    }),
  )
})
