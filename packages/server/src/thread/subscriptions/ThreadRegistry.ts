/**
 * The threads that were started or resumed in this process, and the connections that use this dialect: what all of them are
 * told is sent here. Knows the threads of each principal up to a number of them. Nothing here waits for a client.
 */
import type { Params } from "@colloquy/protocol/Method"
import { ThreadStatusChanged } from "@colloquy/protocol/thread/Notifications"
import type { ThreadStatus } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import type { ConnectionNotices } from "../../app/subscriptions/ConnectionNotices.ts"
import type { SharedState } from "../../Server.ts"

/** A client works with few threads at once; the list of loaded threads forgets the oldest ones beyond this number. */
const maxKnown = 10_000

/** A connection that uses this dialect. */
export interface ThreadMember {
  readonly notices: Pick<ConnectionNotices, "put">
  /** Whether it is subscribed to the thread. */
  readonly follows: (threadId: string) => boolean
}

/** See the header: the part of one principal. */
export interface ThreadRegistry {
  /** Adds a connection until the scope closes. */
  readonly join: (member: ThreadMember) => Effect.Effect<void, never, Scope.Scope>
  /** Notifies all connections but one. */
  readonly tellOthers: <M extends Rpc.Any>(
    method: M,
    params: Params<M>,
    except?: ThreadMember,
  ) => void
  /** Notifies the connections that are subscribed to the thread, but one. */
  readonly tellFollowers: <M extends Rpc.Any>(
    threadId: string,
    method: M,
    params: Params<M>,
    except?: ThreadMember,
  ) => void
  /** A subscriber was sent the status that this event has made: those that are not subscribed are told once. */
  readonly statusChanged: (threadId: string, seq: number, status: ThreadStatus) => void
  /** The thread was started, forked or resumed here. */
  readonly loaded: (threadId: string) => void
  /** The thread was archived or deleted. */
  readonly unloaded: (threadId: string) => void
  readonly isLoaded: (threadId: string) => boolean
  /** Ids of the threads that were started or resumed here, in that order. */
  readonly loadedIds: () => ReadonlyArray<string>
}

const makePart = (): ThreadRegistry => {
  const members = new Set<ThreadMember>()
  /** Number of the event whose status was announced last. */
  const known = new Map<string, number>()
  const registry: ThreadRegistry = {
    join: (member) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => members.add(member)),
          () => Effect.sync(() => members.delete(member)),
        ),
      ),
    tellOthers: (method, params, except) => {
      for (const member of members) {
        if (member !== except) member.notices.put(method, params, "each")
      }
    },
    tellFollowers: (threadId, method, params, except) => {
      for (const member of members) {
        if (member !== except && member.follows(threadId)) {
          member.notices.put(method, params, "each")
        }
      }
    },
    statusChanged: (threadId, seq, status) => {
      if (seq <= (known.get(threadId) ?? -1)) return
      known.set(threadId, seq)
      for (const member of members) {
        if (!member.follows(threadId)) {
          member.notices.put(ThreadStatusChanged, { threadId, status }, "each")
        }
      }
    },
    loaded: (threadId) => {
      if (known.has(threadId)) return
      known.set(threadId, -1)
      const [oldest] = known.keys()
      if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
    },
    unloaded: (threadId) => {
      known.delete(threadId)
    },
    isLoaded: (threadId) => known.has(threadId),
    loadedIds: () => [...known.keys()],
  }
  return registry
}

/** The registries of one server, by principal. */
export const threadRegistries: SharedState<(principal: string) => ThreadRegistry> = {
  make: () =>
    Effect.sync(() => {
      const parts = new Map<string, ThreadRegistry>()
      return (principal: string) => {
        const part = parts.get(principal) ?? makePart()
        parts.set(principal, part)
        return part
      }
    }),
}
