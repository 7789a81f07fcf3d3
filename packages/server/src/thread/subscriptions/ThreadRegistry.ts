/**
 * The threads that were started or resumed in this process, and the connections that use this dialect: what goes to all of them
 * is sent here. Knows the threads of each principal up to a number of them. Nothing here waits for a client.
 */
import type { Params } from "@colloquy/protocol/Method"
import { ThreadStatusChanged } from "@colloquy/protocol/thread/Notifications"
import type { ThreadStatus } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import type { ConnectionNotices } from "../../app/subscriptions/ConnectionNotices.ts"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { StoreError } from "@colloquy/core/StoreErrors"
import { SharedReads } from "../../internal/SharedReads.ts"
import { ReadStateCache } from "../ReadState.ts"
import type { ThreadHistory } from "../ThreadHistory.ts"
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
export class ThreadRegistry {
  private readonly members = new Set<ThreadMember>()
  /** The known threads, each with the number of the event whose status was announced last. */
  private readonly known = new Map<string, number>()
  /** Read states of threads that are not in memory. */
  readonly readStates = new ReadStateCache()

  /** The logs that are being read. */
  readonly reads = new SharedReads<ThreadHistory, NoSuchConversation | StoreError>()

  /** Adds a connection until the scope closes. */
  join(member: ThreadMember): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.members.add(member)),
        () => Effect.sync(() => this.members.delete(member)),
      ),
    )
  }

  /** Notifies all connections but one. */
  notifyOthers<M extends Rpc.Any>(method: M, params: Params<M>, except?: ThreadMember): void {
    for (const member of this.members) {
      if (member !== except) member.notices.put(method, params, "each")
    }
  }

  /** Notifies the connections that are subscribed to the thread, but one. */
  notifyFollowers<M extends Rpc.Any>(
    threadId: string,
    method: M,
    params: Params<M>,
    except?: ThreadMember,
  ): void {
    for (const member of this.members) {
      if (member !== except && member.follows(threadId)) member.notices.put(method, params, "each")
    }
  }

  /** A subscriber was sent the status that this event has made: the others are notified once. */
  statusChanged(threadId: string, seq: number, status: ThreadStatus): void {
    // A thread that was archived or deleted is not loaded again by its last events.
    const announced = this.known.get(threadId)
    if (announced === undefined || seq <= announced) return
    this.known.set(threadId, seq)
    for (const member of this.members) {
      if (!member.follows(threadId)) {
        member.notices.put(ThreadStatusChanged, { threadId, status }, "each")
      }
    }
  }

  /** The thread was started, forked or resumed here. */
  loaded(threadId: string): void {
    if (this.known.has(threadId)) return
    this.known.set(threadId, -1)
    const [oldest] = this.known.keys()
    if (this.known.size > maxKnown && oldest !== undefined) this.known.delete(oldest)
  }

  /** The thread was archived or deleted. */
  unloaded(threadId: string): void {
    this.known.delete(threadId)
  }

  /** Another process has taken the thread over. Subscriptions notify their own connections. */
  takenOver(threadId: string): void {
    if (!this.known.delete(threadId)) return
    const status = { type: "notLoaded" } as const
    for (const member of this.members) {
      if (!member.follows(threadId)) {
        member.notices.put(ThreadStatusChanged, { threadId, status }, "each")
      }
    }
  }

  /** Whether the thread was started, forked or resumed here. */
  isLoaded(threadId: string): boolean {
    return this.known.has(threadId)
  }

  /** Ids of these threads, in that order. */
  loadedIds(): ReadonlyArray<string> {
    return [...this.known.keys()]
  }
}

/** The registries of one server, by principal. */
export const threadRegistries: SharedState<(principal: string) => ThreadRegistry> = {
  make: () =>
    Effect.sync(() => {
      const parts = new Map<string, ThreadRegistry>()
      return (principal: string) => {
        const part = parts.get(principal) ?? new ThreadRegistry()
        parts.set(principal, part)
        return part
      }
    }),
}
