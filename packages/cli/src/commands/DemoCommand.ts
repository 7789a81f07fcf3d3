/**
 * The command `demo`: starts a server as a client would, holds a conversation with it over MCP and shows its events to a
 * person. The conversation requests a command and a patch, which the demo approves and which run in a temporary directory.
 * Exit codes: 0 all turns completed, 1 otherwise, 130 after Ctrl-C.
 */
import * as McpClient from "@colloquy/client/McpClient"
import type { AnyEventMsg } from "@colloquy/protocol/EventMsg"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packageFile } from "../PackageFile.ts"
import type { Launch } from "../args/Args.ts"
import * as ChildServer from "../machine/ChildServer.ts"
import * as Frame from "../demo/Frame.ts"
import * as Renderer from "../demo/Renderer.ts"
import * as Environment from "../machine/Environment.ts"
import { errorLine } from "../log/ErrorLine.ts"
import * as Startup from "../server/Startup.ts"
import { version } from "../server/Version.ts"

const firstPrompt = "Hello! Who are you, and what happens when I send you a message?"

/** The later prompts. The offline model runs the text after `run:` as a command and applies the text after `patch:`. */
const laterPrompts: ReadonlyArray<string> = [
  "Thank you. And what did I ask you first?",
  "run: echo 'to do: try Colloquy' > notes.txt; cat notes.txt",
  `patch: *** Begin Patch
*** Update File: notes.txt
@@
-to do: try Colloquy
+done: tried Colloquy
*** End Patch`,
]

/** The responses of the offline model, unless the configuration names a script. */
const script = packageFile("demo/offline.json")

/** Delay between two deltas: slow enough to see the words arrive, fast enough not to wait for them. */
const deltaDelayMs = 20

/** A turn failed; `message` is for a person. */
class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly message: string }> {}

interface Terminal {
  readonly write: (text: string) => void
  readonly options: Renderer.RendererOptions
}

/** Colours and streamed text are used only on terminals that support escape sequences and allow them (https://no-color.org). */
const terminal = (): Terminal => {
  const fancy =
    process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"
  return {
    write: (text) => process.stdout.write(text),
    options: { live: fancy, color: fancy, columns: process.stdout.columns ?? 80 },
  }
}

const serverArguments = (
  { options, settings }: Startup.Startup,
  { flags = [], overrides }: Launch,
  live: boolean,
): ReadonlyArray<string> => {
  // A demo is not worth storing.
  const own: Array<string> = ["conversation_store=memory"]
  if (settings.provider.wire === "offline") {
    if (options.offline?.script === undefined) own.push(`offline.script=${JSON.stringify(script)}`)
    if (live) own.push(`offline.delta_delay_ms=${deltaDelayMs}`)
  }
  return [
    "mcp",
    ...[...own, ...overrides].flatMap((override) => ["-c", override]),
    ...flags.map(({ option, value }) => `${option}=${value}`),
  ]
}

const idOf = (msg: AnyEventMsg): string | undefined =>
  msg.type === "session_configured" ? msg.session_id : undefined

const checked = (answer: McpClient.TurnResult) =>
  answer.isError ? Effect.fail(new DemoFailed({ message: answer.text })) : Effect.succeed(answer)

/** A temporary directory that is removed with the scope: the demo's commands must not change files of the user. */
const workspace = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "colloquy-demo-")))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true })),
)

/** Connects a client that writes every event to the terminal and approves every question. */
const connect = Effect.fnUntraced(function* (
  server: ChildServer.ChildServer,
  to: Terminal,
  renderer: Renderer.Renderer,
  /** Set when the first turn is requested, which is when its time starts. */
  first: { startedMs: number },
) {
  const connection = yield* StdioConnection.make({ input: server.output, output: server.input })
  return yield* McpClient.connect(connection, {
    clientInfo: { name: "colloquy-demo", version },
    onEvent: ({ msg }) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const thread = idOf(msg)
        // The first prompt is shown after it, so that the thread id is listed with the other facts above.
        if (thread !== undefined) {
          to.write(Frame.thread(to.options, thread) + renderer.prompt(firstPrompt, first.startedMs))
        }
        to.write(renderer.event(msg, nowMs))
      }),
    onElicitation: () =>
      Effect.sync(() => {
        to.write(renderer.answer("approved by the demo"))
        return "approved" as const
      }),
  })
})

/** Runs all turns and shows them. */
const converse = Effect.fnUntraced(function* (server: ChildServer.ChildServer, to: Terminal) {
  const cwd = yield* workspace
  const renderer = Renderer.make(to.options)
  const first = { startedMs: 0 }
  const client = yield* connect(server, to, renderer, first)
  first.startedMs = yield* Clock.currentTimeMillis
  const started = yield* Effect.flatMap(
    client.codex({
      prompt: firstPrompt,
      cwd,
      "approval-policy": "untrusted",
      sandbox: "workspace-write",
    }),
    checked,
  )
  const { threadId } = started
  if (threadId === undefined) {
    return yield* new DemoFailed({ message: "the server returned no thread id" })
  }
  for (const prompt of laterPrompts) {
    to.write(renderer.prompt(prompt, yield* Clock.currentTimeMillis))
    yield* Effect.flatMap(client.codexReply({ threadId, prompt }), checked)
  }
})

/** Loads the configuration. The demo uses the offline model if no provider is configured. */
const prepare = Effect.fnUntraced(function* (given: Launch) {
  const environment = Environment.read()
  const startup = yield* Startup.load(environment, given)
  if (startup.missingProvider === undefined) return { startup, launch: given }
  const launch = { ...given, overrides: ["model_provider=offline", ...given.overrides] }
  return { startup: yield* Startup.load(environment, launch), launch }
})

const demo = Effect.fnUntraced(function* (given: Launch, to: Terminal) {
  const { launch, startup } = yield* prepare(given)
  const server = yield* ChildServer.start(serverArguments(startup, launch, to.options.live))
  to.write(Frame.opening(to.options, { version, pid: server.pid, settings: startup.settings }))
  yield* Effect.catch(converse(server, to), (error) =>
    Effect.suspend(() => {
      const message = "message" in error && error.message !== "" ? error.message : error._tag
      return new DemoFailed({ message: [message, server.stderrTail()].join("\n").trim() })
    }),
  )
  to.write(Frame.closing(to.options, startup.settings))
}, Effect.scoped)

/** Runs the demo. Resolves with the exit code, after the server process has exited. */
export const run = async (launch: Launch): Promise<number> => {
  const stopped = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stopped.abort())
  // The reader of stdout is gone (`| head`): the rest would not be seen.
  process.stdout.on("error", () => stopped.abort())
  const exit = await Effect.runPromiseExit(demo(launch, terminal()), { signal: stopped.signal })
  if (Exit.isSuccess(exit)) return 0
  if (stopped.signal.aborted) return 130
  const error = Cause.squash(exit.cause)
  process.stderr.write(
    `${error instanceof DemoFailed || error instanceof Startup.StartupError ? error.message : errorLine(error)}\n`,
  )
  return 1
}
