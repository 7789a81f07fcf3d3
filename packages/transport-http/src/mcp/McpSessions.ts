/**
 * The sessions of a server: opens one, finds it by its id for its principal only, ends it, and expires it when it has been
 * idle. The number of sessions is bounded.
 *
 *   open ──▶ served ── DELETE, the program ends, idle time, shutdown ──▶ ended (404 from then on)
 */
import type { Connection, ConnectionPeer, Frame } from "@colloquy/protocol/Connection"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { onFinish } from "../guard/Draining.ts"
import { makeStart } from "./Background.ts"
import type { EventLogOptions } from "./EventLog.ts"
import { McpSession } from "./McpSession.ts"

/** Serves one connection until its input ends, such as `McpServer.serve`. */
export type Serve<R = never> = (connection: Connection) => Effect.Effect<void, never, R>

/** Bounds of the sessions. */
export interface McpSessionsOptions extends EventLogOptions {
  /** A session without a request in flight and without a reader ends after this time. Default 30 minutes. */
  readonly idleTimeout?: Duration.Input
  /** Sessions at once. Default 1,024. */
  readonly maxSessions?: number
  /**
   * The stream of a request is closed after this time, and its client continues it with `Last-Event-ID` (polling, for clients
   * of 2025-11-25 and later). Default: never. For proxies that do not let a response last.
   */
  readonly closeStreamsAfter?: Duration.Input
}

/** Frames that the Peer has not taken; a POST waits while there are more. */
const maxFrames = 16

/** 192 bits, which nobody guesses. */
const idBytes = 24

/** An id that nobody guesses, of visible ASCII characters. */
export const newId = Effect.map(WebCrypto, (crypto) =>
  Base64Url.encode(crypto.getRandomValues(new Uint8Array(idBytes))),
)

/** The sessions. */
export interface McpSessions {
  /** A new session that is served; undefined when there are too many. */
  readonly open: (peer: ConnectionPeer) => Effect.Effect<McpSession | undefined>
  /** The session with this id; undefined if there is none, or if it belongs to another principal. */
  readonly find: (id: string, principal: string) => McpSession | undefined
  /** Ends a session. */
  readonly end: (session: McpSession) => Effect.Effect<void>
}

/** Ends idle sessions, for ever. One timer for all of them: a session without work costs none. */
const expiring = (
  sessions: ReadonlyMap<string, McpSession>,
  end: McpSessions["end"],
  idleMs: number,
): Effect.Effect<never> =>
  Effect.forever(
    Effect.andThen(
      Effect.sleep(idleMs / 10),
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.forEach(
          [...sessions.values()],
          (session) => {
            if (session.isBusy) session.usedAt = now
            return now - session.usedAt >= idleMs ? end(session) : Effect.void
          },
          { discard: true },
        ),
      ),
    ),
  )

const ownedBy = (session: McpSession | undefined, principal: string) =>
  session?.peer.principal === principal ? session : undefined

/** Creates the sessions of one server; the end of the scope ends them. */
export const make: (
  serve: Serve,
  options?: McpSessionsOptions,
) => Effect.Effect<McpSessions, never, Scope.Scope> = Effect.fnUntraced(function* (
  serve,
  options = {},
) {
  const { idleTimeout = "30 minutes", maxSessions = 1024 } = options
  const start = yield* makeStart
  const sessions = new Map<string, McpSession>()
  const end = (session: McpSession) =>
    Effect.suspend(() => {
      sessions.delete(session.id)
      return session.end
    })
  yield* Effect.addFinalizer(() => Effect.forEach([...sessions.values()], end, { discard: true }))
  yield* onFinish(
    Effect.suspend(() =>
      Effect.forEach([...sessions.values()], ({ finish }) => finish, { discard: true }),
    ),
  )
  yield* Effect.forkScoped(expiring(sessions, end, Duration.toMillis(idleTimeout)))
  return {
    open: Effect.fnUntraced(function* (peer) {
      if (sessions.size >= maxSessions) return undefined
      const frames = yield* Queue.bounded<Frame, Cause.Done>(maxFrames)
      const now = yield* Clock.currentTimeMillis
      const session = new McpSession(yield* newId, peer, now, frames, options)
      sessions.set(session.id, session)
      yield* start(Effect.ensuring(serve(session), end(session)))
      return session
    }),
    find: (id, principal) => ownedBy(sessions.get(id), principal),
    end,
  }
})
