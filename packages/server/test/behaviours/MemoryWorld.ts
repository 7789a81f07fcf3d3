/** A world in memory on the virtual clock, with the real core, the offline model and a simulated shell. */
import { type ToolCall, type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { Connection } from "@colloquy/protocol/Connection"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import * as OfflineModel from "@colloquy/models/OfflineModel"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Features from "../../src/features/Features.ts"
import { prompt } from "../../src/features/Prompt.ts"
import * as McpServer from "../../src/McpServer.ts"
import { Server } from "../../src/Server.ts"
import { core, settingsWith } from "../support/Harness.ts"
import type { World } from "./Behaviour.ts"
import { speak } from "./Speaker.ts"

const ShellArguments = Schema.fromJsonString(
  Schema.Struct({ command: Schema.Tuple([Schema.String, Schema.String, Schema.String]) }),
)

const commandOf = (call: ToolCall) =>
  Schema.decodeSync(ShellArguments)(call.type === "function_call" ? call.arguments : "").command

const approved = (context: ToolContext, command: ReadonlyArray<string>, callId: string) =>
  context.settings.approvalPolicy === "never"
    ? Effect.succeed(true)
    : Effect.map(
        context.approve({
          _tag: "Exec",
          callId,
          command,
          cwd: context.settings.cwd,
          sandbox: { mode: "danger-full-access" },
        }),
        ({ decision }) => decision === "approved" || decision === "approved_for_session",
      )

/** In this shell `sleep` never ends by itself, and every other command prints what it echoes. */
const shell = ToolRuntime.simple({
  specs: () => [],
  run: (call, context) =>
    Effect.gen(function* () {
      const command = commandOf(call)
      const callId = call.call_id ?? ""
      if (!(yield* approved(context, command, callId))) return "exec command rejected"
      const { cwd } = context.settings
      yield* context.emit({ type: "exec_command_begin", call_id: callId, command, cwd })
      const [, , script] = command
      if (script.startsWith("sleep")) return yield* Effect.never
      const output = /echo (.*)$/.exec(script)?.[1] ?? ""
      return JSON.stringify({ output, metadata: { exit_code: 0 } })
    }),
})

const services = core(Layer.succeed(ToolRuntime, shell)).pipe(
  Layer.provide(OfflineModel.layer()),
  Layer.provideMerge(settingsWith({})),
)

/** Resolves when every fiber that waits for time is asleep. */
const settled = Effect.gen(function* () {
  for (let i = 0; i < 200; i++) yield* Effect.yieldNow
})

/** The prompts, in the form in which they are read from a state directory. */
const prompts = [
  prompt({
    name: "greet",
    description: "Greets somebody.",
    arguments: [{ name: "WHO", required: true }],
    run: ({ WHO = "" }) => Effect.succeed(`Hello ${WHO}`),
  }),
  ...Array.from({ length: 101 }, (_, n) =>
    prompt({ name: `many-${n}`, description: "One of many.", run: () => Effect.succeed("one") }),
  ),
]

/** Connects a client to a server that this program serves, over a transport. */
export type Join = (
  serve: (connection: Connection) => Effect.Effect<void, never, Server>,
  revision: Revision,
) => Effect.Effect<Connection, never, Server | Scope.Scope>

const memoryJoin: Join = (serve) =>
  Effect.gen(function* () {
    const [client, server] = yield* memoryPair(64)
    yield* Effect.forkScoped(serve(server), { startImmediately: true })
    return client
  })

export const memoryWorld = (revision: Revision, join: Join = memoryJoin): World => ({
  revision,
  cwd: "/work",
  pass: (duration) => Effect.andThen(settled, TestClock.adjust(duration)),
  speak: (capabilities = {}) =>
    Effect.gen(function* () {
      const features = yield* Effect.orDie(Features.make({ prompts }))
      // The behaviours of tasks need every call to become a task, however short it is.
      const client = yield* join(
        (connection) => McpServer.serve(connection, { taskAfter: 0 }),
        revision,
      ).pipe(
        Effect.provideContext(
          yield* Layer.build(Layer.provide(Server.layerDefault({ features }), services)),
        ),
      )
      return yield* speak(client, { revision, capabilities })
    }),
})
