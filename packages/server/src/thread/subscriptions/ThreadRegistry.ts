/**
 * The threads that were started or resumed in this process, and the connections that use this dialect: what goes to all of them
 * is sent here, and to other processes that serve the same threads for their connections. Knows the threads of each principal up
 * to a number of them. Nothing here waits for a client or for another process.
 */
import type { Params } from "@colloquy/protocol/Method"
import {
  ThreadArchived,
  ThreadDeleted,
  ThreadNameUpdated,
  ThreadReadStateChanged,
  ThreadSettingsUpdated,
  ThreadStatusChanged,
  ThreadUnarchived,
} from "@colloquy/protocol/thread/Notifications"
import type { ThreadStatus } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Semaphore from "effect/Semaphore"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import type { ThreadNotices } from "./ThreadNotices.ts"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { StoreError } from "@colloquy/core/StoreErrors"
import { SharedReads } from "../../internal/SharedReads.ts"
import { ReadStateCache } from "../ReadState.ts"
import type { ThreadHistory } from "../ThreadHistory.ts"
import type { SharedState } from "../../Server.ts"
import { AnnouncedStatuses } from "./AnnouncedStatuses.ts"
import {
  type AnnouncedMethod,
  type AnnouncedStatus,
  type Announcement,
  announcementOf,
  announcementText,
  methodOf,
  type RecordedMethod,
} from "./ThreadAnnouncements.ts"
import {
  isEnd,
  recordedOf,
  RecordedThreads,
  type RecordedThreadsOptions,
} from "./RecordedThreads.ts"

/** A client works with few threads at once; the list of loaded threads forgets the oldest ones beyond this number. */
const maxKnown = 10_000

/** Threads that are read at once for their notifications. */
const maxReads = 16

/** A connection that uses this dialect. */
export interface ThreadMember {
  /** Adds a notification. Returns at once. */
  readonly put: ThreadNotices["put"]
  /** Whether it is subscribed to the thread. */
  readonly follows: (threadId: string) => boolean
  /** The thread has ended: what is added of it from now on follows the end of its subscription, if there is one. */
  readonly ends: (threadId: string) => void
}

/** Other processes that serve the same threads. */
export interface OtherProcesses extends Pick<RecordedThreadsOptions, "fork" | "read"> {
  /** Sends a text to them. */
  readonly publish: (text: string) => void
}

/** See the header: the part of one principal. */
export class ThreadRegistry {
  private readonly members = new Set<ThreadMember>()
  private readonly known = new Set<string>()
  private readonly statuses = new AnnouncedStatuses(maxKnown)
  private readonly others: OtherProcesses | undefined
  private readonly recorded: RecordedThreads | undefined
  /** Read states of threads that are not in memory. */
  readonly readStates = new ReadStateCache()

  /** The logs that are being read. */
  readonly reads = new SharedReads<ThreadHistory, NoSuchConversation | StoreError>()

  /** @param others default: there are none */
  constructor(others?: OtherProcesses) {
    this.others = others
    this.recorded =
      others &&
      new RecordedThreads({
        ...others,
        isDoubtful: (announcement) => this.isDoubtful(announcement),
        notify: (announcement) => this.notifyAnnounced(announcement),
      })
  }

  /** Adds a connection until the scope closes. */
  join(member: ThreadMember): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.members.add(member)),
        () => Effect.sync(() => this.members.delete(member)),
      ),
    )
  }

  /** Notifies all connections but one, those of other processes included. */
  announce<M extends AnnouncedMethod>(method: M, params: Params<M>, except?: ThreadMember): void {
    this.notifyOthers(method, params, except)
    this.others?.publish(announcementText(method, params))
  }

  /** Notifies all connections, those of other processes included, of what was recorded of a thread. */
  announceRecorded<M extends RecordedMethod>(method: M, params: Params<M>): void {
    this.others?.publish(announcementText(method, params))
    if (this.recorded === undefined) this.notifyOthers(method, params)
    else this.recorded.add({ _tag: method._tag, params })
  }

  /** Notifies all connections of this process but one. */
  notifyOthers<M extends Rpc.Any>(method: M, params: Params<M>, except?: ThreadMember): void {
    for (const member of this.members) {
      if (member !== except) member.put(method, params)
    }
  }

  /** Notifies the connections that are subscribed to the thread, but one; those of other processes included. */
  announceToFollowers<M extends AnnouncedMethod>(
    threadId: string,
    method: M,
    params: Params<M>,
    except?: ThreadMember,
  ): void {
    this.notifyFollowers(threadId, method, params, except)
    this.others?.publish(announcementText(method, params))
  }

  private notifyFollowers<M extends Rpc.Any>(
    threadId: string,
    method: M,
    params: Params<M>,
    except?: ThreadMember,
  ): void {
    for (const member of this.members) {
      if (member !== except && member.follows(threadId)) member.put(method, params)
    }
  }

  /** Subscribers are sent the status by their subscription. */
  private notifyStatus(threadId: string, status: ThreadStatus): void {
    for (const member of this.members) {
      if (!member.follows(threadId)) {
        member.put(ThreadStatusChanged, { threadId, status })
      }
    }
  }

  /** A subscriber was sent the status that this event has made: the others are notified once. */
  statusChanged(threadId: string, seq: number, status: ThreadStatus): void {
    // A thread that was archived or deleted is not loaded again by its last events.
    if (!this.known.has(threadId) || !this.statuses.isNext(threadId, seq)) return
    this.notifyStatus(threadId, status)
    this.others?.publish(announcementText(ThreadStatusChanged, { threadId, status }, seq))
  }

  /** Notifies the connections of what another process has announced. */
  received(announcement: Announcement): void {
    this.recorded?.add(announcement)
  }

  /** Whether a later change can have been notified already. */
  private isDoubtful(announcement: Announcement): boolean {
    switch (announcement._tag) {
      case ThreadNameUpdated._tag:
      case ThreadArchived._tag:
      case ThreadUnarchived._tag:
        return true
      case ThreadStatusChanged._tag:
        // A thread may have been unarchived since it ended, and is used then.
        return isEnd(announcement) || this.statuses.hasEnded(announcement.params.threadId)
      default:
        return false
    }
  }

  private notifyAnnounced(announcement: Announcement): void {
    const { _tag, params } = announcement
    switch (_tag) {
      case ThreadSettingsUpdated._tag:
      case ThreadReadStateChanged._tag:
        return this.notifyFollowers(params.threadId, methodOf(announcement), params)
      case ThreadStatusChanged._tag:
        return this.receivedStatus(announcement)
      case ThreadArchived._tag:
      case ThreadDeleted._tag:
        if (this.unloaded(params.threadId)) {
          this.notifyOthers(ThreadStatusChanged, { ...params, status: { type: "notLoaded" } })
        }
        break
      case ThreadUnarchived._tag:
        this.unarchived(params.threadId)
    }
    this.notifyOthers(methodOf(announcement), params)
  }

  private receivedStatus({ params, seq }: AnnouncedStatus): void {
    const { status, threadId } = params
    if ("unknown" in status) return
    if (status.type !== "notLoaded") this.statuses.begin(threadId)
    if (seq !== undefined) {
      if (this.statuses.isNext(threadId, seq)) this.notifyStatus(threadId, status)
      return
    }
    if (status.type === "notLoaded") this.unloaded(threadId)
    // Clients know the status of a thread that is loaded here.
    else if (this.known.has(threadId)) return
    this.notifyOthers(ThreadStatusChanged, params)
  }

  /** The thread was started, forked or resumed here. */
  loaded(threadId: string): void {
    if (this.known.has(threadId)) return
    this.known.add(threadId)
    this.statuses.begin(threadId)
    const [oldest] = this.known.keys()
    if (this.known.size > maxKnown && oldest !== undefined) this.known.delete(oldest)
  }

  /** The thread was archived or deleted. False if it was not loaded here. */
  unloaded(threadId: string): boolean {
    for (const member of this.members) member.ends(threadId)
    this.statuses.end(threadId)
    return this.known.delete(threadId)
  }

  /** The thread can be used again. Where it is used, here or in another process, its statuses are announced. */
  unarchived(threadId: string): void {
    this.statuses.begin(threadId)
  }

  /** Another process has taken the thread over. Subscriptions notify their own connections. */
  takenOver(threadId: string): void {
    if (this.known.delete(threadId)) this.notifyStatus(threadId, { type: "notLoaded" })
  }

  /** Whether the thread was started, forked or resumed here. */
  isLoaded(threadId: string): boolean {
    return this.known.has(threadId)
  }

  /** Ids of these threads, in that order. */
  loadedIds(): ReadonlyArray<string> {
    return [...this.known]
  }
}

/** The registries of one server, by principal. */
export const threadRegistries: SharedState<(principal: string) => ThreadRegistry> = {
  make: Effect.fnUntraced(function* ({ broadcasts, conversations }) {
    const parts = new Map<string, ThreadRegistry>()
    yield* (
      broadcasts?.watch((principal, text) => {
        const part = parts.get(principal)
        const announcement = part && announcementOf(text)
        if (announcement !== undefined) part?.received(announcement)
      }) ?? Effect.void
    )
    const fork = yield* FiberSet.makeRuntime()
    const reads = yield* Semaphore.make(maxReads)
    const othersOf = (principal: string): OtherProcesses | undefined =>
      broadcasts && {
        publish: (text) => broadcasts.send(principal, text),
        read: (threadId) => recordedOf(conversations(principal), threadId, reads),
        fork,
      }
    return (principal: string) => {
      const part = parts.get(principal) ?? new ThreadRegistry(othersOf(principal))
      parts.set(principal, part)
      return part
    }
  }),
}
