/** Announcements about threads, each notified as what is recorded. */
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import {
  ThreadArchived,
  ThreadDeleted,
  ThreadNameUpdated,
} from "@colloquy/protocol/thread/Notifications"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import {
  type Recorded,
  recordedOf,
  RecordedThreads,
} from "../../src/thread/subscriptions/RecordedThreads.ts"
import type { Announcement } from "../../src/thread/subscriptions/ThreadAnnouncements.ts"

const threadId = "00000000-0000-7000-8000-000000000000"
const named = (threadName: string): Announcement => ({
  _tag: ThreadNameUpdated._tag,
  params: { threadId, threadName },
})
const archived: Announcement = { _tag: ThreadArchived._tag, params: { threadId } }
const deleted: Announcement = { _tag: ThreadDeleted._tag, params: { threadId } }

const lineOf = ({ _tag, params }: Announcement) =>
  "threadName" in params ? `${_tag} ${params.threadName}` : _tag

/** Announcements whose reads end when the test lets them. */
const world = Effect.gen(function* () {
  const reads: Array<Deferred.Deferred<Recorded>> = []
  const lines: Array<string> = []
  const fork = Effect.runForkWith(yield* Effect.context())
  const threads = new RecordedThreads({
    read: () =>
      Effect.suspend(() => {
        const read = Deferred.makeUnsafe<Recorded>()
        reads.push(read)
        return Deferred.await(read)
      }),
    isDoubtful: ({ _tag }) => _tag !== ThreadDeleted._tag,
    notify: (announcement) => lines.push(lineOf(announcement)),
    fork,
  })
  const end = (index: number, recorded: Recorded) =>
    Effect.gen(function* () {
      const read = reads[index]
      if (read !== undefined) yield* Deferred.succeed(read, recorded)
      yield* TestClock.adjust(0)
    })
  return { threads, reads, lines, end }
})

describe("announcements of a thread", () => {
  it.effect("that arrive during a read share the next one; each is notified once", () =>
    Effect.gen(function* () {
      const { end, lines, reads, threads } = yield* world
      threads.add(named("one"))
      yield* TestClock.adjust(0)
      threads.add(named("two"))
      threads.add(archived)
      threads.add(deleted)
      yield* TestClock.adjust(0)
      assert.lengthOf(reads, 1)
      assert.deepStrictEqual(lines, [])
      yield* end(0, { name: "two", archived: false })
      assert.deepStrictEqual(lines, ["thread/name/updated two"])
      assert.lengthOf(reads, 2)
      yield* end(1, { name: "three", archived: false })
      assert.deepStrictEqual(lines.slice(1), [
        "thread/name/updated three",
        "thread/unarchived",
        "thread/deleted",
      ])
      assert.lengthOf(reads, 2)
    }),
  )

  it.effect("that was deleted: nothing follows its end", () =>
    Effect.gen(function* () {
      const { end, lines, threads } = yield* world
      threads.add(deleted)
      threads.add(named("late"))
      threads.add(archived)
      yield* TestClock.adjust(0)
      yield* end(0, "gone")
      yield* end(1, "gone")
      assert.deepStrictEqual(lines, ["thread/deleted"])
    }),
  )

  it.effect("that cannot be read are notified as they are", () =>
    Effect.gen(function* () {
      const { end, lines, threads } = yield* world
      threads.add(named("one"))
      threads.add(archived)
      yield* TestClock.adjust(0)
      yield* end(0, undefined)
      yield* end(1, undefined)
      assert.deepStrictEqual(lines, ["thread/name/updated one", "thread/archived"])
    }),
  )
})

describe("what is recorded of a thread", () => {
  it.effect("is unknown where the store fails or takes long, and gone where there is none", () =>
    Effect.gen(function* () {
      const reads = yield* Semaphore.make(1)
      const failing = {
        metadata: () =>
          Effect.fail(new StoreError({ operation: "metadata", reason: "Other", message: "no" })),
      }
      assert.isUndefined(yield* recordedOf(failing, threadId, reads))
      assert.isUndefined(
        yield* recordedOf({ metadata: () => Effect.die("defect") }, threadId, reads),
      )
      const none = { metadata: () => Effect.fail(new NoSuchConversation({ id: threadId })) }
      assert.strictEqual(yield* recordedOf(none, threadId, reads), "gone")
      // The second one waits for the first.
      const silent = recordedOf({ metadata: () => Effect.never }, threadId, reads)
      const reading = yield* Effect.forkChild(
        Effect.all([silent, silent], { concurrency: 2, discard: true }),
        { startImmediately: true },
      )
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(reading.pollUnsafe(), yield* Effect.exit(Effect.undefined))
    }),
  )
})
