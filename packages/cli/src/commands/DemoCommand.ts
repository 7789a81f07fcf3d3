/**
 * The command `demo`: starts the server of this package as a client would, holds a conversation with it over MCP and
 * shows its events to a person. In it a command and a patch are asked for, approved and run, in a directory of their
 * own. Exit codes: 0 all turns completed, 1 otherwise, 130 after Ctrl-C.
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
import { fileURLToPath } from "node:url"
import type { Launch } from "../args/Args.ts"
import * as ChildServer from "../machine/ChildServer.ts"
import * as Frame from "../demo/Frame.ts"
import * as Renderer from "../demo/Renderer.ts"
import * as Environment from "../machine/Environment.ts"
import { errorLine } from "../log/ErrorLine.ts"
import * as Startup from "../server/Startup.ts"
import { version } from "../server/Version.ts"

const first = "Hello! Who are you, and what happens when I send you a message?"

/** What follows, each as a reply. The offline model runs what comes behind `run:` and applies what is behind `patch:`. */
const replies: ReadonlyArray<string> = [
  "Thank you. And what did I ask you first?",
  "run: echo 'to do: try Colloquy' > notes.txt; cat notes.txt",
  `patch: *** Begin Patch
*** Update File: notes.txt
@@
-to do: try Colloquy
+done: tried Colloquy
*** End Patch`,
]

/** What the offline model says here, unless the person brought a script. */
const script = fileURLToPath(new URL("../demo/offline.json", import.meta.url))

/** Slow enough to see the words come one by one, quick enough not to wait for them. */
const deltaDelayMs = 20

/** A turn did not end as it should; `message` is for a person. */
class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly message: string }> {}

interface Terminal {
  readonly write: (text: string) => void
  readonly options: Renderer.RendererOptions
}

/** Colours and text as it streams only where escape sequences are understood and wanted (https://no-color.org). */
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
  // What it says is nothing that anybody would come back to.
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

const isString = (value: unknown): value is string => typeof value === "string"

const idOf = (msg: AnyEventMsg): string | undefined =>
  msg.type === "session_configured" && "session_id" in msg && isString(msg["session_id"])
    ? msg["session_id"]
    : undefined

const checked = (answer: McpClient.TurnResult) =>
  answer.isError ? Effect.fail(new DemoFailed({ message: answer.text })) : Effect.succeed(answer)

/** A directory that is gone with the scope: what the demo runs must not touch anybody's files. */
const workspace = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "colloquy-demo-")))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true })),
)

/** All turns, shown as they run; every question is answered with yes. */
const converse = Effect.fnUntraced(function* (server: ChildServer.ChildServer, to: Terminal) {
  const cwd = yield* workspace
  const renderer = Renderer.make(to.options)
  let beganMs = yield* Clock.currentTimeMillis
  const connection = yield* StdioConnection.make({ input: server.output, output: server.input })
  const client = yield* McpClient.connect(connection, {
    clientInfo: { name: "colloquy-demo", version },
    onEvent: ({ msg }) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const thread = idOf(msg)
        // The first prompt waits for it, so that the thread stands among the facts above.
        if (thread !== undefined) {
          to.write(Frame.thread(to.options, thread) + renderer.prompt(first, beganMs))
        }
        to.write(renderer.event(msg, nowMs))
      }),
    onElicitation: () =>
      Effect.sync(() => {
        to.write(renderer.answer("yes, says the demo"))
        return "approved" as const
      }),
  })
  beganMs = yield* Clock.currentTimeMillis
  const started = yield* Effect.flatMap(
    client.codex({
      prompt: first,
      cwd,
      "approval-policy": "untrusted",
      sandbox: "workspace-write",
    }),
    checked,
  )
  const { threadId } = started
  if (threadId === undefined) {
    return yield* new DemoFailed({ message: "the server named no thread to go on with" })
  }
  for (const prompt of replies) {
    to.write(renderer.prompt(prompt, yield* Clock.currentTimeMillis))
    yield* Effect.flatMap(client.codexReply({ threadId, prompt }), checked)
  }
})

/** Where no provider is configured, the demo requests the offline model. */
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
      return new DemoFailed({ message: [message, server.complaint()].join("\n").trim() })
    }),
  )
  to.write(Frame.closing(to.options, startup.settings))
}, Effect.scoped)

/** Runs the demo to its end; the server process has gone when this returns. */
export const run = async (launch: Launch): Promise<number> => {
  const stopped = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stopped.abort())
  // Whoever read this may leave: then nobody is there to watch the rest.
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
