/**
 * The progress that tool servers report of calls. `make` belongs to one connection: it gives each call a token, reads what
 * the server sends with it, and knows which call it is about until that ends. `reporting` belongs to one call: it delivers
 * the reports as events, at most one in 200 ms, the newest one, and none after the call has ended. What a server sends
 * beyond that is dropped, so a server that reports all the time costs one report of memory for each call.
 */
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import { defined } from "@colloquy/protocol/Defined"
import { Progress, ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import type * as McpClient from "effect/ai/McpClient"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { Notified } from "./ServerRequests.ts"
import type { ProgressReport } from "./ToolConnection.ts"

/** Time between two events of one call: a person reads no faster. */
const interval = Duration.millis(200)
/** UTF-16 code units of the text of a report; it is one line for a person. */
const maxMessageChars = 1_000

type Receive = (report: ProgressReport) => void

/** Receives the progress of the call that runs in a fiber. Default: none does, and the call asks for no progress. */
const Receiver = Context.Reference<Receive | undefined>("@colloquy/tools/mcp/CallProgress", {
  defaultValue: () => undefined,
})

/** Runs a call whose progress `receive` gets, synchronously and until the call ends. */
export const receivedBy =
  (receive: Receive | undefined) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(call, Receiver, receive)

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const finite = (u: unknown): number | undefined =>
  typeof u === "number" && Number.isFinite(u) ? u : undefined

const readReport = (params: Readonly<Record<string, unknown>>): ProgressReport | undefined => {
  const progress = finite(params["progress"])
  if (progress === undefined) return undefined
  const { message } = params
  const text =
    typeof message === "string" ? message.slice(0, maxMessageChars).toWellFormed() : undefined
  return { progress, ...defined({ total: finite(params["total"]), message: text }) }
}

/** The progress of the calls of one connection. */
export interface CallProgress {
  /** The transport, which asks for the progress of each call that somebody receives the progress of. */
  readonly around: (transport: McpClient.Transport) => McpClient.Transport
  /** Reads a notification of the server; one that is no progress of a running call has no effect. */
  readonly notified: Notified
}

/** The token of a call is the id of its request. */
export const make = (): CallProgress => {
  const running = new Map<unknown, Receive>()
  return {
    around: (transport) => ({
      ...transport,
      request: (message, tool) =>
        Effect.flatMap(Receiver, (receive) => {
          if (receive === undefined || message.method !== ToolsCall._tag) {
            return transport.request(message, tool)
          }
          const params = { ...message.params, _meta: { progressToken: message.id } }
          running.set(message.id, receive)
          return transport
            .request({ ...message, params }, tool)
            .pipe(Effect.ensuring(Effect.sync(() => running.delete(message.id))))
        }),
    }),
    notified: ({ method, params }) => {
      if (method !== Progress._tag || !isRecord(params)) return
      const receive = running.get(params["progressToken"])
      const report = receive === undefined ? undefined : readReport(params)
      if (report !== undefined) receive?.(report)
    },
  }
}

const eventOf = (callId: string, report: ProgressReport): EventOf<"mcp_tool_call_progress"> => ({
  type: "mcp_tool_call_progress",
  call_id: callId,
  ...report,
})

/** Runs a call, and emits its progress. The last report precedes the result; none follows it. */
export const reporting = <A, E, R>(
  callId: string,
  emit: (msg: EventMsg) => Effect.Effect<void>,
  call: (receive: Receive) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const newest = yield* Queue.sliding<ProgressReport>(1)
    const send = Effect.flatMap(Queue.take(newest), (report) =>
      // An event that is being delivered is delivered before the end of the call.
      Effect.uninterruptible(emit(eventOf(callId, report))),
    )
    const sendAll = Effect.forever(Effect.andThen(send, Effect.sleep(interval)))
    const last = Effect.flatMap(Queue.poll(newest), (report) =>
      report._tag === "None" ? Effect.void : emit(eventOf(callId, report.value)),
    )
    return yield* Effect.forkScoped(sendAll).pipe(
      Effect.andThen(call((report) => void Queue.offerUnsafe(newest, report))),
      Effect.scoped,
      Effect.tap(last),
    )
  })
