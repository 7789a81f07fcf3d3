/**
 * The streams of the conversations of one process: at most one per conversation, whichever connection it belongs to.
 *
 *     waiting for the stream before it ── ended ──► replay ──► `notifications/initial_state` ──► live events
 *                                                     ▲                                            │
 *                                                     └────────── the client fell behind ──────────┤
 *     `notifications/stream_disconnected` ◄── a new stream takes over, or the conversation ends ───┤
 *     nothing ◄── cancelled ───────────────────────────────────────────────────────────────────────┘
 *
 * A client that falls behind the bounded outbox gets a new initial state instead of what it missed (L6). Questions stay
 * pending in the conversation while it has no stream.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { StreamDisconnected } from "@colloquy/protocol/mcp/CodexMcp"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { SharedState } from "../../Server.ts"
import { metaOf, StreamReader, type Viewer } from "./StreamReader.ts"

/** The reasons in `notifications/stream_disconnected`, in the words of the original. */
const takenOver = "New stream() took over"
const ended = "The conversation ended"

interface CurrentStream {
  readonly viewer: Viewer
  /** Completed with the reason by the stream that takes over. */
  readonly superseded: Deferred.Deferred<string>
  /** Completed when no event of the conversation follows any more. */
  readonly silent: Deferred.Deferred<void>
  /** Completed when no notification at all follows any more. */
  readonly finished: Deferred.Deferred<void>
}

/** See the header. */
export interface Streams {
  /** Whether the conversation has a stream. */
  readonly has: (conversationId: string) => boolean
  /** Runs until interrupted (silently) or superseded (the client receives the reason). */
  readonly run: (viewer: Viewer) => Effect.Effect<void>
}

/** Sends what the conversation delivers. Resolves with the reason why no more follows. */
const follow = (viewer: Viewer): Effect.Effect<string, ConnectionClosed> => {
  const { conversation } = viewer
  return Effect.gen(function* () {
    const questions = yield* viewer.questions
    const reader = new StreamReader(viewer, questions)
    const answers = questions !== undefined
    const attachAndRead = Effect.flatMap(conversation.attach({ from: 0, answers }), (listener) =>
      reader.read(listener),
    )
    return yield* Effect.forever(Effect.scoped(attachAndRead))
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

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const complete = (one: Deferred.Deferred<void>) => Deferred.doneUnsafe(one, Effect.void)

/** Waits until the stream before this one has sent its last notification, as far as this one could come before it. */
const awaitTurn = (
  { connection }: Viewer,
  before: CurrentStream | undefined,
): Effect.Effect<void> => {
  if (before === undefined) return Effect.void
  // Another connection may be slow to accept its last notification; on the same one it must come first.
  const isSame = before.viewer.connection === connection
  return Deferred.await(isSame ? before.finished : before.silent)
}

/** Sends the conversation to the client until the stream is superseded or the conversation ends, and then the reason. */
const serve = Effect.fnUntraced(function* (
  { silent, superseded, viewer }: CurrentStream,
  before: CurrentStream | undefined,
): Effect.fn.Return<void, ConnectionClosed> {
  yield* awaitTurn(viewer, before)
  const reason = yield* Effect.raceFirst(Deferred.await(superseded), follow(viewer))
  complete(silent)
  yield* viewer.context.peer.notify(StreamDisconnected, [{ _meta: metaOf(viewer), reason }])
})

const make = (): Streams => {
  const current = new Map<string, CurrentStream>()

  /** Takes the place of the conversation's stream. Called uninterruptibly, so that the place is always released. */
  const replace = (viewer: Viewer, restore: Restore): Effect.Effect<void> => {
    const { id } = viewer.conversation
    const before = current.get(id)
    const mine: CurrentStream = {
      viewer,
      superseded: Deferred.makeUnsafe(),
      silent: Deferred.makeUnsafe(),
      finished: Deferred.makeUnsafe(),
    }
    current.set(id, mine)
    if (before !== undefined) Deferred.doneUnsafe(before.superseded, Effect.succeed(takenOver))
    const release = Effect.sync(() => {
      if (current.get(id) === mine) current.delete(id)
      complete(mine.silent)
      complete(mine.finished)
    })
    return restore(serve(mine, before)).pipe(
      Effect.catch(({ reason }) => Effect.logDebug(`stream ended: ${reason}`)),
      Effect.ensuring(release),
    )
  }

  return {
    has: (conversationId) => current.has(conversationId),
    run: (viewer) =>
      Effect.uninterruptibleMask((restore) => Effect.suspend(() => replace(viewer, restore))),
  }
}

/** The streams of one server, shared by all its connections. */
export const streams: SharedState<Streams> = { make: () => Effect.sync(make) }
