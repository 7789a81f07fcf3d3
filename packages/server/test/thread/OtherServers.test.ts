/** What the clients of one server are notified of what clients of another server of the same threads do. */
import { assert, describe, it } from "@effect/vitest"
import { ThreadDeleted } from "@colloquy/protocol/thread/Notifications"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { announcementText } from "../../src/thread/subscriptions/ThreadAnnouncements.ts"
import type * as Scope from "effect/Scope"
import { type AppOptions, hello, resultOf } from "../support/AppHarness.ts"
import { Bus } from "../support/Bus.ts"
import type { Harness } from "../support/Harness.ts"
import { at, lines, started, turn, withThreads } from "../support/Threading.ts"

interface Servers {
  readonly a: Harness
  readonly b: Harness
  readonly bus: Bus
}

/** Clients of two servers. */
const withServers = <A, E>(
  body: (servers: Servers) => Effect.Effect<A, E, Scope.Scope>,
  options: AppOptions = {},
) => {
  const bus = new Bus()
  return withThreads({ ...options, serverPerConnection: true, broadcasts: bus.join }, (a) =>
    Effect.gen(function* () {
      const b = yield* a.another
      yield* hello(b, { experimentalApi: true })
      return yield* body({ a, b, bus })
    }),
  )
}

let requests = 0
const ask = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`r${requests++}`, method, params), resultOf)

/** The notifications about threads: their methods without `thread/`, and the name of their status or thread. */
const notified = ({ messages }: Harness, from = 0) =>
  messages.slice(from).flatMap(({ id, method, params }) => {
    if (id !== undefined || method?.startsWith("thread/") !== true) return []
    const about = at(params, "status", "type") ?? at(params, "threadName")
    const short = method.slice("thread/".length)
    return [typeof about === "string" ? `${short} ${about}` : short]
  })

const quiet = ({ a, b }: Servers) => Effect.andThen(a.quiet, b.quiet)

describe("a thread that was archived and unarchived", () => {
  for (const [archiver, unarchiver] of [
    ["a", "b"],
    ["b", "b"],
    ["a", "a"],
    ["b", "a"],
  ] as const) {
    it.effect(
      `by clients of ${archiver} and ${unarchiver}: each status of its turns at a is notified at b`,
      () =>
        withServers((servers) =>
          Effect.gen(function* () {
            const { a, b } = servers
            const threadId = yield* started(a)
            yield* turn(a, threadId)
            yield* quiet(servers)
            yield* ask(servers[archiver], "thread/archive", { threadId })
            yield* quiet(servers)
            yield* ask(servers[unarchiver], "thread/unarchive", { threadId })
            yield* quiet(servers)
            const before = b.messages.length
            for (const id of ["one", "two"]) {
              yield* turn(a, threadId, "again", {}, id)
              yield* quiet(servers)
            }
            assert.deepStrictEqual(notified(b, before), [
              "status/changed active",
              "status/changed idle",
              "status/changed active",
              "status/changed idle",
            ])
          }),
        ),
    )
  }
})

describe("changes by clients of two servers, the later of which is announced first", () => {
  it.effect("all connections are notified of the name that the thread has last", () =>
    withServers((servers) =>
      Effect.gen(function* () {
        const { a, b, bus } = servers
        const threadId = yield* started(a)
        yield* turn(a, threadId)
        yield* quiet(servers)
        const before = [a.messages.length, b.messages.length] as const
        bus.hold()
        yield* ask(a, "thread/name/set", { threadId, name: "first" })
        yield* a.quiet
        const overtaken = bus.hold()
        yield* ask(b, "thread/name/set", { threadId, name: "second" })
        yield* b.quiet
        bus.release(overtaken)
        yield* quiet(servers)
        assert.deepStrictEqual(notified(a, before[0]), [
          "name/updated first",
          "name/updated second",
        ])
        assert.deepStrictEqual(notified(b, before[1]), [
          "name/updated second",
          "name/updated second",
        ])
      }),
    ),
  )

  it.effect("all are notified last that it is not archived, and of its statuses from then on", () =>
    withServers((servers) =>
      Effect.gen(function* () {
        const { a, b, bus } = servers
        const other = yield* a.another
        yield* hello(other, { experimentalApi: true })
        const threadId = yield* started(a)
        yield* turn(a, threadId)
        yield* quiet(servers)
        bus.hold()
        yield* ask(a, "thread/archive", { threadId })
        yield* a.quiet
        const overtaken = bus.hold()
        yield* ask(b, "thread/unarchive", { threadId })
        yield* b.quiet
        bus.release(overtaken)
        yield* quiet(servers)
        for (const app of [a, b, other]) {
          const archiving = notified(app).filter((line) => line.endsWith("archived"))
          assert.lengthOf(archiving, 2)
          assert.strictEqual(archiving[1], "unarchived")
        }
        const before = other.messages.length
        yield* turn(b, threadId, "again", {}, "again")
        yield* quiet(servers)
        yield* other.quiet
        assert.deepStrictEqual(notified(other, before), [
          "status/changed active",
          "status/changed idle",
        ])
      }),
    ),
  )

  it.effect("a turn that is announced before its thread is unarchived", () =>
    withServers((servers) =>
      Effect.gen(function* () {
        const { a, b, bus } = servers
        const other = yield* a.another
        yield* hello(other, { experimentalApi: true })
        const threadId = yield* started(a)
        yield* turn(a, threadId)
        yield* quiet(servers)
        yield* ask(a, "thread/archive", { threadId })
        yield* quiet(servers)
        bus.hold()
        yield* ask(b, "thread/unarchive", { threadId })
        yield* b.quiet
        const overtaken = bus.hold()
        const before = other.messages.length
        yield* turn(a, threadId, "again", {}, "again")
        yield* a.quiet
        bus.release(overtaken)
        yield* quiet(servers)
        yield* other.quiet
        assert.deepStrictEqual(notified(other, before), [
          "status/changed active",
          "status/changed idle",
          "unarchived",
        ])
      }),
    ),
  )

  it.effect("a thread that is used again stays loaded", () =>
    withServers((servers) =>
      Effect.gen(function* () {
        const { a, b, bus } = servers
        const threadId = yield* started(a)
        yield* turn(a, threadId)
        yield* quiet(servers)
        bus.hold()
        yield* ask(a, "thread/archive", { threadId })
        yield* a.quiet
        const overtaken = bus.hold()
        yield* ask(b, "thread/unarchive", { threadId })
        yield* ask(b, "thread/resume", { threadId })
        yield* b.quiet
        const before = b.messages.length
        bus.release(overtaken)
        yield* quiet(servers)
        assert.deepStrictEqual(notified(b, before), ["unarchived"])
        assert.deepStrictEqual(at(yield* ask(b, "thread/loaded/list", {}), "data"), [threadId])
      }),
    ),
  )
})

describe("a thread whose deletion is announced before its last events arrive", () => {
  /** A turn of `b` runs; a third server announces that its thread was deleted. */
  const announced = <A, E>(
    body: (threadId: string, servers: Servers) => Effect.Effect<A, E, Scope.Scope>,
  ) =>
    withServers(
      (servers) =>
        Effect.gen(function* () {
          const { b, bus } = servers
          const threadId = yield* started(b)
          yield* turn(b, threadId)
          yield* quiet(servers)
          bus.join().send(null, announcementText(ThreadDeleted, { threadId }))
          yield* quiet(servers)
          return yield* body(threadId, servers)
        }),
      { script: [Script.reply(Script.bareDeltas("The be", "ginning"), Script.hang)] },
    )

  it.effect("a subscriber is notified after the end of its turn, the others at once", () =>
    announced((threadId, servers) =>
      Effect.gen(function* () {
        const { a, b } = servers
        assert.deepStrictEqual(notified(a), ["started", "status/changed active", "deleted"])
        assert.notInclude(lines(b), "thread/deleted")
        const before = b.messages.length
        yield* Effect.orDie(a.manager.remove(threadId))
        yield* quiet(servers)
        assert.deepStrictEqual(lines(b, before), [
          "item/completed agentMessage",
          "thread/status/changed idle",
          "turn/completed",
          "thread/closed",
          "thread/status/changed notLoaded",
          "thread/deleted",
        ])
      }),
    ),
  )

  it.effect("it does not wait for longer than a few seconds", () =>
    announced((_, servers) =>
      Effect.gen(function* () {
        const { b } = servers
        const before = b.messages.length
        yield* TestClock.adjust("5 seconds")
        yield* quiet(servers)
        assert.deepStrictEqual(notified(b, before), ["status/changed notLoaded", "deleted"])
      }),
    ),
  )
})
