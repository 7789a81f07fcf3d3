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
  interface Changed extends Servers {
    readonly threadId: string
    /** One more client that is not subscribed to the thread, with a server of its own. */
    readonly observer: Harness
    /** The announcements of what `later` does arrive before those of what `earlier` has done. */
    readonly overtaking: <A, B>(
      earlier: Effect.Effect<A>,
      later: Effect.Effect<B>,
    ) => Effect.Effect<void>
  }

  /** A thread of `a` with a turn. */
  const withThread = <A, E>(body: (changed: Changed) => Effect.Effect<A, E, Scope.Scope>) =>
    withServers((servers) =>
      Effect.gen(function* () {
        const { a, bus } = servers
        const observer = yield* a.another
        yield* hello(observer, { experimentalApi: true })
        const all = Effect.andThen(quiet(servers), observer.quiet)
        const threadId = yield* started(a)
        yield* turn(a, threadId)
        yield* all
        return yield* body({
          ...servers,
          threadId,
          observer,
          overtaking: Effect.fnUntraced(function* (earlier, later) {
            bus.hold()
            yield* earlier
            yield* all
            const overtaken = bus.hold()
            yield* later
            yield* all
            bus.release(overtaken)
            yield* all
          }),
        })
      }),
    )

  it.effect("all connections are notified of the name that the thread has last", () =>
    withThread(({ a, b, observer, overtaking, threadId }) =>
      Effect.gen(function* () {
        yield* overtaking(
          ask(a, "thread/name/set", { threadId, name: "first" }),
          ask(b, "thread/name/set", { threadId, name: "second" }),
        )
        const names = (app: Harness) => notified(app).filter((line) => line.startsWith("name"))
        const [first, second] = ["name/updated first", "name/updated second"]
        assert.deepStrictEqual(names(a), [first, second])
        assert.deepStrictEqual(names(b), [second, second])
        assert.deepStrictEqual(names(observer), [second, second])
      }),
    ),
  )

  it.effect("all are notified last that it is not archived, and of its statuses from then on", () =>
    withThread(({ a, b, observer, overtaking, threadId }) =>
      Effect.gen(function* () {
        yield* overtaking(
          ask(a, "thread/archive", { threadId }),
          ask(b, "thread/unarchive", { threadId }),
        )
        for (const app of [a, b, observer]) {
          const archiving = notified(app).filter((line) => line.endsWith("archived"))
          assert.lengthOf(archiving, 2)
          assert.strictEqual(archiving[1], "unarchived")
        }
        const before = observer.messages.length
        yield* turn(b, threadId, "again", {}, "again")
        yield* b.quiet
        yield* observer.quiet
        assert.deepStrictEqual(notified(observer, before), [
          "status/changed active",
          "status/changed idle",
        ])
      }),
    ),
  )

  it.effect("the statuses of a turn that is announced before its thread is unarchived", () =>
    withThread(({ a, b, observer, overtaking, threadId }) =>
      Effect.gen(function* () {
        yield* ask(a, "thread/archive", { threadId })
        yield* a.quiet
        yield* observer.quiet
        const before = observer.messages.length
        yield* overtaking(
          ask(b, "thread/unarchive", { threadId }),
          turn(a, threadId, "again", {}, "again"),
        )
        assert.deepStrictEqual(notified(observer, before), [
          "status/changed active",
          "status/changed idle",
          "unarchived",
        ])
      }),
    ),
  )

  it.effect("a thread that is used again stays loaded", () =>
    withThread(({ a, b, overtaking, threadId }) =>
      Effect.gen(function* () {
        yield* overtaking(
          ask(a, "thread/archive", { threadId }),
          Effect.andThen(
            ask(b, "thread/unarchive", { threadId }),
            ask(b, "thread/resume", { threadId }),
          ),
        )
        assert.notInclude(notified(b), "status/changed notLoaded")
        assert.deepStrictEqual(notified(b).slice(-1), ["unarchived"])
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
