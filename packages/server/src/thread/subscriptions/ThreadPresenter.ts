/**
 * The notifications of the subscribers of threads, each folded from the events of its thread (`ThreadFold.ts`). A change of
 * what a thread waits for is announced to the connections that are not subscribed as well.
 */
import type {
  Notification,
  SubscriptionPresenter,
} from "../../app/subscriptions/SubscriptionPresenter.ts"
import { notificationOf } from "../../app/subscriptions/SubscriptionPresenter.ts"
import {
  ServerRequestResolved,
  ThreadClosed,
  ThreadStatusChanged,
} from "@colloquy/protocol/thread/Notifications"
import type { ThreadStatus } from "@colloquy/protocol/thread/Values"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import { ThreadFold, type ThreadOutput } from "../ThreadFold.ts"
import type { ThreadHistory } from "../ThreadHistory.ts"
import { type ListenerWishes, notificationOfOutput } from "../ThreadNotifications.ts"
import { presentCall } from "../ThreadCalls.ts"
import { presentThread, type QuestionedThread, type SentRequests } from "../ThreadQuestions.ts"

/** What the presenter of a connection needs. */
export interface ThreadPresenterOptions {
  readonly sent: SentRequests
  /** Called for each change of what a thread waits for, with the number of the event that changed it. */
  readonly onStatus: (threadId: string, seq: number, status: ThreadStatus) => void
  /** Called when another process has taken the thread over. */
  readonly onTakenOver: (threadId: string) => void
}

interface Watched {
  readonly fold: ThreadFold
  /** Number of the event that follows what was folded. */
  next: number
  readonly wishes: ListenerWishes
}

/** See the header. One per connection. */
export class ThreadPresenter implements SubscriptionPresenter {
  private readonly options: ThreadPresenterOptions
  /** By thread: a connection has one subscription of each at most. */
  private readonly watched = new Map<string, Watched>()

  constructor(options: ThreadPresenterOptions) {
    this.options = options
  }

  /** The subscription continues behind what was folded already. */
  prime(
    threadId: string,
    { fold, next }: Pick<ThreadHistory, "fold" | "next">,
    wishes: ListenerWishes,
  ): void {
    this.watched.set(threadId, { fold: fold.copy(), next, wishes })
  }

  /** The beginnings of what runs, for a client that was not sent them. */
  begun(threadId: string): ReadonlyArray<Notification> {
    const { fold, next, wishes } = this.of(threadId)
    return fold.begun.flatMap((output) => this.notificationsOf(threadId, next, output, wishes))
  }

  /** The subscription has ended. */
  forget(threadId: string): void {
    this.watched.delete(threadId)
  }

  private of(threadId: string): Watched {
    const known = this.watched.get(threadId) ?? {
      fold: new ThreadFold(),
      next: 0,
      wishes: { raw: false, unread: true },
    }
    this.watched.set(threadId, known)
    return known
  }

  readonly event: SubscriptionPresenter["event"] = (
    { conversationId: threadId },
    { atMs, event },
  ) => {
    const watched = this.of(threadId)
    const { fold, wishes } = watched
    watched.next = Math.max(watched.next, event.seq + 1)
    return fold
      .step(event, atMs)
      .flatMap((output) => this.notificationsOf(threadId, event.seq, output, wishes))
  }

  private notificationsOf(
    threadId: string,
    seq: number,
    output: ThreadOutput,
    wishes: ListenerWishes,
  ): ReadonlyArray<Notification> {
    if (output._tag === "Status") this.options.onStatus(threadId, seq, output.status)
    if (output._tag === "Message" && output.msg.type === "approval_resolved") {
      return this.resolved(threadId, output.msg.call_id)
    }
    const shown = notificationOfOutput(threadId, output, wishes)
    return shown === undefined ? [] : [shown]
  }

  private resolved(threadId: string, question: string): ReadonlyArray<Notification> {
    return this.options.sent
      .take(threadId, question)
      .map((requestId) => notificationOf(ServerRequestResolved, { threadId, requestId }))
  }

  readonly lagged: SubscriptionPresenter["lagged"] = ({ conversationId }) => {
    this.of(conversationId).fold.resync()
    return undefined
  }

  readonly synced: SubscriptionPresenter["synced"] = () => undefined

  /** A thread whose events cannot be recorded now continues with its next use. */
  readonly closed: SubscriptionPresenter["closed"] = ({ conversationId: threadId }, reason) =>
    reason === undefined ? notificationOf(ThreadClosed, { threadId }) : undefined

  /**
   * The running turn ends: its next event will say that it was interrupted. One that waits for an answer goes on with the
   * next use of the thread, and asks again then.
   */
  readonly suspended: NonNullable<SubscriptionPresenter["suspended"]> = (
    { conversationId: threadId },
    reason,
  ) =>
    Effect.map(Clock.currentTimeMillis, (atMs) => {
      const { fold, next, wishes } = this.of(threadId)
      if (fold.pending.length > 0) return []
      return fold
        .abandon(reason, atMs)
        .flatMap((output) => this.notificationsOf(threadId, next, output, wishes))
    })

  /** The running turn ends as interrupted, with the reason as a warning, and the thread is closed. A client that wants it again resumes it. */
  readonly takenOver: NonNullable<SubscriptionPresenter["takenOver"]> = (
    { conversationId: threadId },
    reason,
  ) =>
    Effect.map(Clock.currentTimeMillis, (atMs) => {
      const { fold, wishes } = this.of(threadId)
      const resolved = fold.pending.flatMap((question) => this.resolved(threadId, question))
      const ends = fold.abandon(reason, atMs).flatMap((output) => {
        const shown = notificationOfOutput(threadId, output, wishes)
        return shown === undefined ? [] : [shown]
      })
      this.options.onTakenOver(threadId)
      const status = { type: "notLoaded" } as const
      return [
        ...resolved,
        ...ends,
        notificationOf(ThreadStatusChanged, { threadId, status }),
        notificationOf(ThreadClosed, { threadId }),
      ]
    })

  readonly presentCall: NonNullable<SubscriptionPresenter["presentCall"]> = ({ id }, peer) =>
    presentCall(this.questioned(id, peer))

  private questioned(threadId: string, peer: PeerControl): QuestionedThread {
    return {
      threadId,
      peer,
      sent: this.options.sent,
      callOf: (callId) => this.of(threadId).fold.callOf(callId),
    }
  }

  readonly present: SubscriptionPresenter["present"] = ({ id }, peer) =>
    presentThread(this.questioned(id, peer))
}
