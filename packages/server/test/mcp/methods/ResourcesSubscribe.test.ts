import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  resource,
  ResourceNotFound,
  resourceTemplate,
  type WatchRequest,
} from "../../../src/features/Resource.ts"
import { codeOf, initialized, noticesOf, stateless, withFeatures } from "../../support/Featuring.ts"
import type { Harness } from "../../support/Harness.ts"

const updated = (uri: string) => ({ method: "notifications/resources/updated", params: { uri } })

/** A template whose watchers are counted, and notified by the test. */
const watched = () => {
  const watching = new Map<string, Effect.Effect<void>>()
  const log: Array<string> = []
  return {
    watching,
    log,
    template: resourceTemplate({
      uriTemplate: "w:{id}",
      name: "w",
      read: () => Effect.succeed(""),
      watch: ({ changed, params, uri }: WatchRequest) =>
        params["id"] === "missing"
          ? Effect.fail(new ResourceNotFound({ uri }))
          : Effect.asVoid(
              Effect.acquireRelease(
                Effect.sync(() => {
                  watching.set(uri, changed)
                  log.push(`+${uri}`)
                }),
                () =>
                  Effect.sync(() => {
                    watching.delete(uri)
                    log.push(`-${uri}`)
                  }),
              ),
            ),
    }),
  }
}

const plain = resource({ uri: "x:plain", name: "plain", read: () => Effect.succeed("") })

const subscribe = (server: Harness, id: unknown, uri: string) =>
  server.ask(id, "resources/subscribe", { uri })

const pass = (server: Harness) => Effect.andThen(TestClock.adjust("1 second"), server.quiet)

describe("resources/subscribe", () => {
  it.effect("notifies of simultaneous changes once, and of nothing else", () =>
    withFeatures({ resources: [plain] }, (server, features) =>
      Effect.gen(function* () {
        yield* initialized(server)
        assert.deepStrictEqual((yield* subscribe(server, 1, "x:plain")).result, {})
        for (let i = 0; i < 1000; i++) yield* features.updated("x:plain")
        yield* features.updated("x:other")
        yield* pass(server)
        assert.deepStrictEqual(noticesOf(server), [updated("x:plain")])
        yield* features.updated("x:plain")
        yield* pass(server)
        assert.deepStrictEqual(noticesOf(server), [updated("x:plain"), updated("x:plain")])
      }),
    ),
  )

  it.effect("watches once, however many subscribe, and no longer than the last of them", () =>
    Effect.gen(function* () {
      const { log, template, watching } = watched()
      yield* withFeatures({ resourceTemplates: [template] }, (server) =>
        Effect.gen(function* () {
          yield* initialized(server)
          const other = yield* server.another
          yield* initialized(other)
          yield* subscribe(server, 1, "w:1")
          yield* subscribe(server, 2, "w:1")
          yield* subscribe(other, 1, "w:1")
          assert.deepStrictEqual(log, ["+w:1"])
          yield* watching.get("w:1") ?? Effect.die("there is no watcher")
          yield* pass(server)
          assert.deepStrictEqual(noticesOf(server), [updated("w:1")])
          assert.deepStrictEqual(noticesOf(other), [updated("w:1")])
          yield* server.ask(3, "resources/unsubscribe", { uri: "w:1" })
          assert.deepStrictEqual(log, ["+w:1"])
          yield* other.ask(3, "resources/unsubscribe", { uri: "w:1" })
          assert.deepStrictEqual(log, ["+w:1", "-w:1"])
          yield* subscribe(server, 4, "w:2")
        }),
      )
      // The subscriptions of a connection end with it.
      assert.deepStrictEqual(log, ["+w:1", "-w:1", "+w:2", "-w:2"])
    }),
  )

  it.effect("refuses an unknown resource, and is not a method without a handshake", () =>
    withFeatures({ resourceTemplates: [watched().template] }, (server, features) =>
      Effect.gen(function* () {
        yield* initialized(server)
        for (const uri of ["w:missing", "x:unknown"]) {
          const { error } = yield* subscribe(server, uri, uri)
          assert.deepStrictEqual(error, {
            code: -32002,
            message: "Resource not found",
            data: { uri },
          })
          yield* features.updated(uri)
        }
        yield* pass(server)
        assert.deepStrictEqual(noticesOf(server), [])
        const { error } = yield* server.ask(9, "resources/subscribe", stateless({ uri: "w:1" }))
        assert.strictEqual(error?.code, -32601)
      }),
    ),
  )

  it.effect("L6 accepts 1,024 subscriptions of a connection, and one more when one has ended", () =>
    withFeatures({ resourceTemplates: [watched().template] }, (server) =>
      Effect.gen(function* () {
        yield* initialized(server)
        for (let i = 0; i < 1024; i++) yield* subscribe(server, i, `w:${i}`)
        const { error } = yield* subscribe(server, "more", "w:more")
        assert.strictEqual(error?.code, -32000)
        yield* server.ask("less", "resources/unsubscribe", { uri: "w:7" })
        assert.strictEqual(codeOf(yield* subscribe(server, "again", "w:more")), undefined)
      }),
    ),
  )
})
