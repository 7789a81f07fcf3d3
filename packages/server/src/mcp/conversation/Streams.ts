/**
 * The streams of the conversations of one process (§2.4): one at most per conversation, whichever connection it is of.
 * `notifications/initial_state` comes before any live event; a client too slow for its bounded outbox gets a fresh one
 * instead of what it missed (L6); questions wait in the conversation while no stream is there.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SharedState } from "../../SharedState.ts"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { InitialState, StreamDisconnected } from "@colloquy/protocol/mcp/CodexMcp"
import { liveEvent } from "@colloquy/protocol/mcp/StreamNotifications"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { CallElicitations } from "../elicitation/Elicitations.ts"
import type { ToolCaller } from "../codex/TurnCall.ts"
import { wireMsg } from "../../events/McpEvents.ts"
import type { ConnectionState } from "./ConnectionState.ts"

const takenOver = "New stream() took over"
const ended = "The conversation ended"

interface Viewer {
  readonly conversation: Conversation
  readonly caller: ToolCaller
  readonly connection: ConnectionState
}

interface Current {
  readonly viewer: Viewer
  /** Completed by who takes over, with the reason. */
  readonly over: Deferred.Deferred<string>
  /** Nothing more of the conversation follows. */
  readonly silent: Deferred.Deferred<void>
  /** Nothing more at all follows. */
  readonly told: Deferred.Deferred<void>
}

export interface Streams {
  readonly has: (conversationId: string) => boolean
  /** Runs until it is interrupted, which nobody is told of, or over, which its client is told with the reason. */
  readonly run: (viewer: Viewer) => Effect.Effect<void>
}

const metaOf = ({ caller, conversation }: Viewer) => ({
  conversationId: conversation.id,
  requestId: caller.requestId,
})

const notifyLive = (
  viewer: Viewer,
  live: ReadonlyArray<EventMsg>,
): Effect.Effect<void, ConnectionClosed> => {
  const _meta = metaOf(viewer)
  // Events of one type that follow on each other, as deltas do, go together.
  const runs: Array<Array<EventMsg>> = []
  for (const msg of live) {
    const last = runs.at(-1)
    if (last?.[0]?.type === msg.type) last.push(msg)
    else runs.push([msg])
  }
  return Effect.forEach(
    runs,
    ([first, ...rest]) =>
      first === undefined
        ? Effect.void
        : viewer.caller.peer.notify(
            liveEvent(first.type),
            [first, ...rest].map((msg) => ({ _meta, msg })),
          ),
    { discard: true },
  )
}

/** What was delivered since the last look, in the order in which the client is told. */
interface Round {
  readonly over: ReadonlyArray<string>
  readonly initial?: ReadonlyArray<{ readonly msg: EventMsg }>
  readonly live: ReadonlyArray<EventMsg>
  readonly ask: ReadonlyArray<Event>
}

/** Reads one listener. `seen` is the first event that the client was not told of; at first nothing is withdrawn. */
const reader = (listener: Listener, progress: { seen: number | undefined }) => {
  let history: Array<{ readonly msg: EventMsg }> | undefined = []
  /** Undefined when the client was too slow. */
  const next: Effect.Effect<Round | undefined, ListenerEnd> = Effect.map(
    listener.take,
    (deliveries) => {
      const over: Array<string> = []
      const live: Array<EventMsg> = []
      const ask: Array<Event> = []
      let initial: Round["initial"]
      for (const delivery of deliveries) {
        if (delivery._tag === "Lagged") return undefined
        if (delivery._tag === "Ask") ask.push(delivery.event)
        else if (delivery._tag === "Synced") {
          initial = history
          history = undefined
          progress.seen = delivery.seq
        } else {
          const { msg, seq } = delivery.event
          const { seen } = progress
          if (msg.type === "approval_resolved" && seen !== undefined && seq >= seen) {
            over.push(msg.call_id)
          }
          if (history === undefined) progress.seen = seq + 1
          const wire = msg.type === "session_configured" ? undefined : wireMsg(msg)
          if (wire === undefined) continue
          if (history === undefined) live.push(wire)
          else history.push({ msg: wire })
        }
      }
      return { over, live, ask, ...(initial === undefined ? {} : { initial }) }
    },
  )
  return next
}

/** Until the client was too slow. */
const tell = Effect.fnUntraced(function* (
  viewer: Viewer,
  next: Effect.Effect<Round | undefined, ListenerEnd>,
  questions: CallElicitations | undefined,
): Effect.fn.Return<void, ConnectionClosed | ListenerEnd> {
  while (true) {
    const round = yield* next
    if (round === undefined) return
    for (const callId of round.over) yield* questions?.withdraw(callId) ?? Effect.void
    if (round.initial !== undefined) {
      const initial_state = { events: round.initial }
      yield* viewer.caller.peer.notify(InitialState, [{ _meta: metaOf(viewer), initial_state }])
    }
    yield* notifyLive(viewer, round.live)
    for (const event of round.ask) yield* questions?.put(event) ?? Effect.void
  }
})

/** Gives the reason why there is nothing more to tell. */
const follow = (viewer: Viewer): Effect.Effect<string, ConnectionClosed> => {
  const { caller, connection, conversation } = viewer
  return Effect.gen(function* () {
    const questions = yield* connection.questions(conversation, caller)
    const progress = { seen: undefined }
    while (true) {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const answers = questions !== undefined
          const listener = yield* conversation.attach({ from: 0, answers })
          yield* tell(viewer, reader(listener, progress), questions)
        }),
      )
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTags({
      Done: () => Effect.succeed(ended),
      ConversationUnavailable: ({ message }) => Effect.succeed(message),
      EventsFromFuture: ({ message }) => Effect.succeed(message),
      TooManyListeners: ({ message }) => Effect.succeed(message),
    }),
  )
}

const make = (): Streams => {
  const streams = new Map<string, Current>()
  const finish = (one: Deferred.Deferred<void>) => Deferred.doneUnsafe(one, Effect.void)

  const run = (viewer: Viewer): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const { caller, conversation } = viewer
        const before = streams.get(conversation.id)
        const mine: Current = {
          viewer,
          over: Deferred.makeUnsafe(),
          silent: Deferred.makeUnsafe(),
          told: Deferred.makeUnsafe(),
        }
        streams.set(conversation.id, mine)
        if (before !== undefined) Deferred.doneUnsafe(before.over, Effect.succeed(takenOver))
        const work = Effect.gen(function* () {
          if (before !== undefined) {
            // Another connection may be slow to take its last word; on this one it comes first.
            const same = before.viewer.connection === viewer.connection
            yield* Deferred.await(same ? before.told : before.silent)
          }
          const reason = yield* Effect.raceFirst(Deferred.await(mine.over), follow(viewer))
          finish(mine.silent)
          yield* caller.peer.notify(StreamDisconnected, [{ _meta: metaOf(viewer), reason }])
        })
        return restore(work).pipe(
          Effect.catch(({ reason }) => Effect.logDebug(`stream ended: ${reason}`)),
          Effect.ensuring(
            Effect.sync(() => {
              if (streams.get(conversation.id) === mine) streams.delete(conversation.id)
              finish(mine.silent)
              finish(mine.told)
            }),
          ),
        )
      }),
    )

  return { has: (conversationId) => streams.has(conversationId), run }
}

/** The streams of the conversations of one server, whichever connection they are of. */
export const streams: SharedState<Streams> = { make: () => Effect.sync(make) }
