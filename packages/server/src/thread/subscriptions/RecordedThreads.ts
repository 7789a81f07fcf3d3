/**
 * Announcements about threads that other processes change too. They do not arrive in the order of the changes, so each is
 * notified as what is recorded of the thread once it has arrived: the last notification says what is so, at every process.
 *
 * One read of a thread at a time, for all announcements that arrived before it; later ones wait. Where a read fails or takes
 * long, the announcement is notified as it is.
 */
import { parseConversationId } from "@colloquy/protocol/Ids"
import {
  ThreadArchived,
  ThreadNameUpdated,
  ThreadStatusChanged,
  ThreadUnarchived,
} from "@colloquy/protocol/thread/Notifications"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationsView } from "../../ConversationsView.ts"
import type { AnnouncedStatus, Announcement } from "./ThreadAnnouncements.ts"

/** Notifications are late by at most this. */
const maxReadTime = Duration.seconds(5)

/** What is recorded of a thread; `gone` once it was deleted, undefined where it could not be read. */
export type Recorded =
  | { readonly name?: string | undefined; readonly archived: boolean }
  | "gone"
  | undefined

/** Reads what is recorded of a thread. @param reads bounds how many are read at once; the wait for it is part of the time */
export const recordedOf = (
  { metadata }: Pick<ConversationsView["Service"], "metadata">,
  threadId: string,
  reads: Semaphore.Semaphore,
): Effect.Effect<Recorded> =>
  Effect.suspend((): Effect.Effect<Recorded, NoSuchConversation | StoreError> => {
    const parsed = parseConversationId(threadId)
    return "problem" in parsed ? Effect.succeed("gone" as const) : metadata({ id: parsed.id })
  }).pipe(
    reads.withPermits(1),
    Effect.timeout(maxReadTime),
    Effect.catchTag("NoSuchConversation", () => Effect.succeed("gone" as const)),
    Effect.catchCause((cause) =>
      Effect.as(
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.logWarning("a thread was not read for its notifications", cause),
        undefined,
      ),
    ),
  )

/** The thread that is announced. */
const threadIdOf = ({ params }: Announcement): string =>
  "thread" in params ? params.thread.id : params.threadId

/** Whether the status is that of a thread which was archived or deleted. */
export const isEnd = ({ params: { status } }: AnnouncedStatus): boolean =>
  "type" in status && status.type === "notLoaded"

/** The announcement as it is so now; undefined for one that others have made obsolete. */
const asRecorded = (announcement: Announcement, recorded: Recorded): Announcement | undefined => {
  if (recorded === undefined) return announcement
  const isUsable = recorded !== "gone" && !recorded.archived
  switch (announcement._tag) {
    case ThreadStatusChanged._tag:
      return isEnd(announcement) === isUsable ? undefined : announcement
    case ThreadNameUpdated._tag: {
      if (recorded === "gone") return undefined
      const { name: threadName } = recorded
      if (threadName === undefined) return announcement
      return { ...announcement, params: { ...announcement.params, threadName } }
    }
    case ThreadArchived._tag:
    case ThreadUnarchived._tag: {
      if (recorded === "gone") return undefined
      const { _tag } = isUsable ? ThreadUnarchived : ThreadArchived
      return { _tag, params: announcement.params }
    }
    default:
      return announcement
  }
}

/** What the announcements of one principal are notified with. */
export interface RecordedThreadsOptions {
  readonly read: (threadId: string) => Effect.Effect<Recorded>
  /** Whether what is announced can be obsolete. */
  readonly isDoubtful: (announcement: Announcement) => boolean
  /** Notifies the connections. Returns at once. */
  readonly notify: (announcement: Announcement) => void
  /** Runs the reads, beside the callers. */
  readonly fork: (effect: Effect.Effect<void>) => void
}

/** See the header. */
export class RecordedThreads {
  private readonly options: RecordedThreadsOptions
  /** Announcements that wait for a read, by thread; empty during the read for the last of them. */
  private readonly waiting = new Map<string, Array<Announcement>>()

  constructor(options: RecordedThreadsOptions) {
    this.options = options
  }

  /** Notifies what is announced: at once, unless it can be obsolete or follows one that is. */
  add(announcement: Announcement): void {
    const threadId = threadIdOf(announcement)
    const waiting = this.waiting.get(threadId)
    if (waiting !== undefined) {
      waiting.push(announcement)
    } else if (this.options.isDoubtful(announcement)) {
      this.waiting.set(threadId, [announcement])
      this.options.fork(this.notifyWaiting(threadId))
    } else {
      this.options.notify(announcement)
    }
  }

  private notifyWaiting(threadId: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const arrived = this.waiting.get(threadId)?.splice(0) ?? []
        if (arrived.length === 0) break
        const recorded = yield* this.options.read(threadId)
        for (const one of arrived) {
          const shown = asRecorded(one, recorded)
          if (shown !== undefined) this.options.notify(shown)
        }
      }
      this.waiting.delete(threadId)
    })
  }
}
