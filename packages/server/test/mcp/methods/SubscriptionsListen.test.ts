import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Catalog } from "../../../src/features/Catalog.ts"
import { make as makeChanges, type CatalogChanges } from "../../../src/features/CatalogChanges.ts"
import { subscriptionsListen } from "../../../src/mcp/methods/SubscriptionsListen.ts"
import { Tasks } from "../../../src/tasks/Tasks.ts"
import { type AskingServer, withHandlers } from "../../support/AskingServer.ts"
import { cancelled } from "../../support/Harness.ts"
import { madeBy, saying } from "../../support/Stateless.ts"

const everything = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
}

const named = { "io.modelcontextprotocol/subscriptionId": "s" }

interface World {
  readonly server: AskingServer
  readonly changes: CatalogChanges
  /** URIs of the watched resources. */
  readonly watched: ReadonlyArray<string>
}

const withListening = <A, E>(
  body: (world: World) => Effect.Effect<A, E, Scope.Scope>,
  capabilities: Readonly<Record<string, unknown>> = everything,
) => {
  const changes = makeChanges()
  const watched: Array<string> = []
  const watch: Catalog["watch"] = (uri) =>
    uri.startsWith("test://")
      ? Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => watched.push(uri)),
            () => Effect.sync(() => watched.splice(watched.indexOf(uri), 1)),
          ),
        )
      : Effect.fail("nothing there")
  return Effect.flatMap(Tasks.make(), (tasks) => {
    const handler = subscriptionsListen({ changes, watch }, () => capabilities, tasks)
    return withHandlers({ "subscriptions/listen": handler }, (server) =>
      body({ server, changes, watched }),
    )
  })
}

const listen = (server: AskingServer, id: unknown, notifications: unknown) =>
  Effect.andThen(
    server.send({
      jsonrpc: "2.0",
      id,
      method: "subscriptions/listen",
      params: saying({ notifications }),
    }),
    server.quiet,
  )

const notificationsOf = ({ messages }: AskingServer) =>
  messages.map(({ id, method, params, result, error }) =>
    method === undefined ? [id, result ?? error] : [method, params],
  )

const acknowledged = (notifications: unknown, meta: unknown = named) => [
  "notifications/subscriptions/acknowledged",
  { notifications, _meta: meta },
]

/** Simultaneous changes are notified a tenth of a second later. */
const later = ({ server }: World) => Effect.andThen(TestClock.adjust("100 millis"), server.quiet)

describe("subscriptions/listen", () => {
  it.effect(
    "first acknowledges what it supports, then notifies of that only, with the id of the request",
    () =>
      withListening((world) =>
        Effect.gen(function* () {
          const { changes, server } = world
          const filter = {
            toolsListChanged: true,
            promptsListChanged: false,
            resourceSubscriptions: ["test://a", "nowhere://b", "test://a"],
            more: true,
          }
          yield* listen(server, "s", filter)
          changes.listChanged("tools")
          changes.listChanged("tools")
          changes.listChanged("prompts")
          changes.listChanged("resources")
          changes.updated("test://a")
          changes.updated("test://c")
          yield* later(world)
          assert.deepStrictEqual(notificationsOf(server), [
            acknowledged({ toolsListChanged: true, resourceSubscriptions: ["test://a"] }),
            ["notifications/tools/list_changed", { _meta: named }],
            ["notifications/resources/updated", { uri: "test://a", _meta: named }],
          ])
        }),
      ),
  )

  it.effect("ignores what the server does not declare", () =>
    withListening(
      (world) =>
        Effect.gen(function* () {
          const { changes, server, watched } = world
          yield* listen(server, "s", {
            toolsListChanged: true,
            promptsListChanged: true,
            resourceSubscriptions: ["test://a"],
          })
          changes.listChanged("prompts")
          changes.updated("test://a")
          yield* later(world)
          assert.deepStrictEqual(
            [notificationsOf(server), watched],
            [[acknowledged({ toolsListChanged: true })], []],
          )
        }),
      { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } },
    ),
  )

  it.effect("L1 does not watch, send or respond after its cancellation", () =>
    withListening((world) =>
      Effect.gen(function* () {
        const { changes, server, watched } = world
        yield* listen(server, "s", { resourceSubscriptions: ["test://a"] })
        assert.deepStrictEqual(watched, ["test://a"])
        yield* server.send(cancelled("s"))
        yield* server.quiet
        changes.updated("test://a")
        yield* later(world)
        assert.deepStrictEqual([server.messages.length, watched], [1, []])
      }),
    ),
  )

  it.effect("ends after a day with a notification and a response", () =>
    withListening((world) =>
      Effect.gen(function* () {
        const { server } = world
        yield* listen(server, "s", {})
        yield* TestClock.adjust("24 hours")
        yield* server.quiet
        assert.deepStrictEqual(notificationsOf(server), [
          acknowledged({}),
          ["notifications/cancelled", { requestId: "s", reason: "the subscription has ended" }],
          ["s", { resultType: "complete", _meta: { ...named, ...madeBy } }],
        ])
      }),
    ),
  )

  it.effect("L9 ends at once at the end of input, with its response", () =>
    withListening((world) =>
      Effect.gen(function* () {
        const { server } = world
        yield* listen(server, "s", {})
        yield* server.close
        yield* server.quiet
        assert.deepStrictEqual(notificationsOf(server).at(-1), [
          "s",
          { resultType: "complete", _meta: { ...named, ...madeBy } },
        ])
      }),
    ),
  )

  it.effect("L6 is limited to 16 per connection, with 1,024 addresses each", () =>
    withListening(({ server }) =>
      Effect.gen(function* () {
        const many = Array.from({ length: 1025 }, (_, n) => `test://${n}`)
        yield* listen(server, "many", { resourceSubscriptions: many })
        for (let n = 1; n <= 17; n++) yield* listen(server, n, {})
        yield* server.send(cancelled(3))
        yield* listen(server, 18, {})
        const failures = server.messages.filter(({ error }) => error !== undefined)
        assert.deepStrictEqual(
          failures.map(({ error, id }) => [id, error?.code, error?.message]),
          [
            [
              "many",
              -32602,
              "Invalid params: params.notifications.resourceSubscriptions: more than 1024",
            ],
            [17, -32000, "more than 16 subscriptions on one connection"],
          ],
        )
        assert.deepStrictEqual(
          notificationsOf(server).at(-1),
          acknowledged({}, { "io.modelcontextprotocol/subscriptionId": 18 }),
        )
      }),
    ),
  )

  it.effect("L13 requires a filter", () =>
    withListening(({ server }) =>
      Effect.gen(function* () {
        const { error } = yield* server.ask(1, "subscriptions/listen", saying())
        assert.deepStrictEqual(
          [error?.code, error?.message],
          [-32602, "Invalid params: params.notifications: Missing key"],
        )
      }),
    ),
  )
})
