/** The bytes that a tool server writes to the MCP client of this program: lines, messages, results, and requests of the server. */
import type { Contract } from "@colloquy/protocol/emit/Contract"
import { encode, oneOf } from "@colloquy/simulation/fuzz/Bytes"
import { type Edge, type Verdict, Violation } from "@colloquy/simulation/fuzz/Edge"
import { mutateLines } from "@colloquy/simulation/fuzz/LineMutators"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import { handshakeVersions } from "@colloquy/protocol/mcp/Revisions"
import { ToolsCall, ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
// The client of tool servers is not a public part of its package.
import * as McpConnection from "../../../tools/src/mcp/McpConnection.ts"
import * as ToolServer from "../../../tools/src/mcp/ToolServer.ts"
import { markOf, prefixRange } from "../../../tools/src/process/ProcessMark.ts"
import { ProcessGroup } from "../../../tools/src/process/ProcessGroup.ts"
import { Watchdog } from "../../../tools/src/process/Watchdog.ts"
import { TrustedPrograms } from "../../../tools/src/programs/TrustedPrograms.ts"
import { donorsOf, lineOf, samplesOf, unsolicited } from "../frames/Corpus.ts"
import { responsesIn } from "../frames/Output.ts"
import { ToolProcess } from "../tools/ToolProcess.ts"

const settings = {
  transport: { _tag: "Stdio", command: "server", args: [], env: {} },
  startupTimeout: Duration.seconds(10),
  toolTimeout: Duration.seconds(60),
} as const

/** Longer than the longest pause between two starts of a failing server. */
const restartPause = Duration.minutes(6)

const noProcesses = ProcessGroup.of({
  signal: () => Effect.succeed(false),
  lives: () => Effect.succeed(false),
  ids: () => Effect.succeed([]),
  limitsOf: () => Effect.succeed(""),
  kill: () => Effect.succeed(true),
})

const anyProgram = TrustedPrograms.of({
  remember: () => Effect.void,
  resolve: (name) => Effect.succeed(`/usr/bin/${name}`),
  resolveConfigured: Effect.succeed,
  safeSearchPath: Effect.succeed,
  systemProgramIn: () => Effect.undefined,
})

const unwatched = Watchdog.of({
  ready: Effect.succeed(false),
  mark: Effect.succeed(markOf(prefixRange[0], 0)),
  add: () => Effect.void,
  remove: () => Effect.void,
  addDirectory: () => Effect.void,
  removeDirectory: () => Effect.void,
})

const unreachable = HttpClient.make(() => Effect.die("no server is reached by HTTP here"))

const l13 = (message: string) => new Violation({ law: "L13", message })

/** Calls the first listed tool; succeeds when there is none. */
const callFirst = (server: ToolServer.ToolServer) =>
  Effect.flatMap(server.tools, ([tool]) =>
    tool === undefined
      ? Effect.void
      : Effect.asVoid(server.call(tool.name, {}, () => Effect.succeed({ action: "decline" }))),
  )

/** Checks that a server that now behaves correctly can be used, whatever it wrote before. */
const recovers = (server: ToolServer.ToolServer, process: ToolProcess) =>
  Effect.gen(function* () {
    yield* process.behave
    yield* Effect.sleep("1 second")
    yield* Effect.sleep(restartPause)
    // The first call may still reach the old process while it ends.
    yield* Effect.exit(callFirst(server))
    yield* Effect.sleep(restartPause)
    yield* callFirst(server).pipe(
      Effect.mapError(({ message }) =>
        l13(`a server that behaves correctly again cannot be used: ${message}`),
      ),
    )
    yield* process.ask("probe")
    yield* Effect.sleep("1 second")
    const responses = responsesIn(process.read, false)
    if (responses instanceof Violation) return yield* responses
    const answers = responses.filter(({ id }) => id === "sprobe").length
    if (answers !== 1) {
      return yield* new Violation({
        law: "L1",
        message: `a request of the server got ${answers} responses`,
      })
    }
  })

const runOne = (input: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const process = new ToolProcess()
      process.script(input)
      const server = yield* ToolServer.make("fuzz", settings, (ask) =>
        McpConnection.connect("fuzz", settings.transport, ask).pipe(
          Effect.provideService(ChildProcessSpawner, process.spawner),
          Effect.provideService(Watchdog, unwatched),
          Effect.provideService(ProcessGroup, noProcesses),
          Effect.provideService(TrustedPrograms, anyProgram),
          Effect.provideService(HttpClient.HttpClient, unreachable),
        ),
      )
      const called = yield* Effect.exit(callFirst(server))
      yield* recovers(server, process)
      const verdict: Verdict = called._tag === "Success" ? "accepted" : "rejected"
      return verdict
    }),
  ).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})))

const success = (id: number, result: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result })

const corpusOf = (mcp: Contract) => {
  const draws = new SeededRandom(3)
  const samples = samplesOf(mcp)
  const resultOf = (method: string) =>
    samples.sample(mcp.methods.find(({ name }) => name === method)?.result ?? {}, draws)
  const own = mcp.methods
    .filter(({ sender }) => sender === "server")
    .flatMap(({ info, name, params }) =>
      Array.from({ length: 3 }, (_, at) =>
        lineOf(`ask ${at}`, {
          method: name,
          params: params === undefined ? undefined : samples.sample(params, draws),
          isRequest: info.kind === "request",
        }),
      ),
    )
  const tools = Array.from({ length: 3 }, (_, at) => ({
    name: `tool ${at}`,
    description: "does something",
    inputSchema: {
      type: "object",
      properties: { a: { type: "string" }, b: { $ref: "#/properties/a" } },
      required: ["a"],
    },
    annotations: { readOnlyHint: true },
  }))
  const session = (version: string) => [
    success(1, {
      protocolVersion: version,
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: "server", version: "1" },
    }),
    success(2, {
      tools: draws.chance(0.5) ? tools : [{ ...tools[0], ...Object(resultOf(ToolsList._tag)) }],
    }),
    ...(draws.chance(0.7) ? [oneOf(draws, own)] : []),
    success(
      3,
      draws.chance(0.5) ? resultOf(ToolsCall._tag) : { content: [{ type: "text", text: "x" }] },
    ),
  ]
  const failures = [1, 2, 3].map((id) =>
    JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "no", data: {} } }),
  )
  const corpus = Array.from({ length: 60 }, (_, at) => {
    const lines = session(handshakeVersions[at % handshakeVersions.length] ?? "")
    const more = draws.chance(0.5) ? [oneOf(draws, own)] : []
    return encode(`${[...more, ...lines].join("\n")}\n`)
  })
  return {
    corpus,
    donors: donorsOf(corpus, [...own, ...failures, ...unsolicited]),
  }
}

/** The edge of the output of tool servers. */
export const toolServerFrames = (mcp: Contract): Edge => {
  const { corpus, donors } = corpusOf(mcp)
  return {
    name: "tool-server-frames",
    summary: "what a tool server writes to the MCP client over its standard output",
    corpus,
    mutate: mutateLines(donors),
    inputsPerTarget: 500,
    maxVirtualMs: 3 * Duration.toMillis(restartPause),
    open: Effect.succeed({ run: runOne }),
  }
}
