/** Resources, prompts, completion, log and cursors. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  behaviour,
  callOf,
  codes,
  handshake,
  listIn,
  membersIn,
  stateless,
  threadOf,
  type World,
} from "./Behaviour.ts"
import type { Speaker } from "./Speaker.ts"

const uriOf = (id: string) => `colloquy://conversations/${id}`

/** Creates a conversation and runs one turn in it. */
const conversed = (client: Speaker) =>
  Effect.map(client.ask("tools/call", callOf("codex", { prompt: "say hello" })), threadOf)

interface Named {
  readonly name: string
  readonly uri?: string
  readonly uriTemplate?: string
}

/** Reads a list page by page; resolves with all entries and the number of pages. */
const all = (client: Speaker, method: string, kind: string) =>
  Effect.gen(function* () {
    const entries: Array<Named> = []
    let cursor: unknown
    let pages = 0
    do {
      const { result } = yield* client.ask(method, cursor === undefined ? {} : { cursor })
      entries.push(...((result?.[kind] ?? []) as ReadonlyArray<Named>))
      cursor = result?.["nextCursor"]
      pages++
    } while (cursor !== undefined)
    return { entries, pages }
  })

const lists = [
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
] as const

/** Runs another turn, then waits for the interval in which the server combines changes into one notification. */
const changed = (world: World, client: Speaker, id: string) =>
  Effect.andThen(
    client.ask("tools/call", callOf("codex-reply", { threadId: id, prompt: "say more" })),
    world.pass("300 millis"),
  )

export const features = [
  behaviour("lists each conversation as a resource, and reads it", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const uri = uriOf(yield* conversed(client))
      const { entries } = yield* all(client, "resources/list", "resources")
      assert.include(
        entries.map((one) => one.uri),
        uri,
      )
      const { result } = yield* client.ask("resources/read", { uri })
      const [contents] = listIn(result, "contents")
      assert.strictEqual(contents?.["uri"], uri)
      assert.include(contents?.["text"], "hello")
    }),
  ),

  behaviour("refuses a resource that it does not have, with the code of the revision", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const uri = uriOf("018f0000-0000-7000-8000-000000000000")
      const { error } = yield* client.ask("resources/read", { uri })
      const code = client.stateless ? codes.invalidParams : codes.resourceNotFound
      assert.strictEqual(error?.code, code)
      assert.propertyVal(error?.data, "uri", uri)
    }),
  ),

  behaviour("lists templates of resources, and completes their ids", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const id = yield* conversed(client)
      const { entries } = yield* all(client, "resources/templates/list", "resourceTemplates")
      const uriTemplate = entries.map((one) => one.uriTemplate).find((one) => one?.includes("{id}"))
      const { result } = yield* client.ask("completion/complete", {
        ref: { type: "ref/resource", uri: uriTemplate },
        argument: { name: "id", value: id.slice(0, 8) },
      })
      assert.deepStrictEqual(membersIn(result, "completion")["values"], [id])
    }),
  ),

  behaviour(
    "notifies a subscribed client of a conversation's changes, until it unsubscribes",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const id = yield* conversed(client)
        const uri = uriOf(id)
        assert.deepStrictEqual((yield* client.ask("resources/subscribe", { uri })).result, {})
        yield* changed(world, client, id)
        const { params } = yield* client.until(
          ({ method }) => method === "notifications/resources/updated",
        )
        assert.strictEqual(params?.["uri"], uri)
        assert.deepStrictEqual((yield* client.ask("resources/unsubscribe", { uri })).result, {})
        const before = client.messages.length
        yield* changed(world, client, id)
        assert.isFalse(
          client.messages
            .slice(before)
            .some(({ method }) => method === "notifications/resources/updated"),
        )
      }),
    handshake,
  ),

  behaviour(
    "notifies a listening client of a conversation's changes, with the id of its request",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const id = yield* conversed(client)
        const uri = uriOf(id)
        const before = client.messages.length
        const listening = yield* client.begin("subscriptions/listen", {
          notifications: { resourceSubscriptions: [uri] },
        })
        yield* client.until(({ method }) => method === "notifications/subscriptions/acknowledged")
        assert.strictEqual(
          client.messages[before]?.method,
          "notifications/subscriptions/acknowledged",
        )
        yield* changed(world, client, id)
        const { params } = yield* client.until(
          ({ method }) => method === "notifications/resources/updated",
        )
        assert.strictEqual(params?.["uri"], uri)
        const tags = client.messages.flatMap(({ method, params: sent }) =>
          method?.startsWith("notifications/resources") === true ||
          method?.startsWith("notifications/subscriptions") === true
            ? [membersIn(sent, "_meta")["io.modelcontextprotocol/subscriptionId"]]
            : [],
        )
        assert.deepStrictEqual(new Set(tags), new Set([listening.id]))
        yield* client.cancel(listening.id)
      }),
    stateless,
  ),

  behaviour("lists its prompts page by page, each once, and fills one in", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const { entries, pages } = yield* all(client, "prompts/list", "prompts")
      const names = entries.map(({ name }) => name)
      assert.isAbove(pages, 1)
      assert.lengthOf(new Set(names), names.length)
      assert.includeMembers(names, ["greet", "many-0", "many-100"])
      const { result } = yield* client.ask("prompts/get", {
        name: "greet",
        arguments: { WHO: "Ada" },
      })
      const [message] = listIn(result, "messages")
      assert.include(membersIn(message, "content")["text"], "Hello Ada")
    }),
  ),

  behaviour("refuses a prompt that it does not have, and one without its argument", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const replies = yield* Effect.forEach(["gret", "greet"], (name) =>
        client.ask("prompts/get", { name }),
      )
      assert.deepStrictEqual(
        replies.map(({ error }) => error?.code),
        [codes.invalidParams, codes.invalidParams],
      )
    }),
  ),

  behaviour("refuses a cursor that it did not return, or returned for another list", (world) =>
    Effect.gen(function* () {
      const client = yield* world.speak()
      const { result } = yield* client.ask("prompts/list")
      const cursor = result?.["nextCursor"]
      assert.isString(cursor)
      const replies = yield* Effect.forEach(
        [
          ...lists.map(([method]) => [method, "nonsense"] as const),
          ...lists.slice(0, 3).map(([method]) => [method, cursor] as const),
        ],
        ([method, bad]) => client.ask(method, { cursor: bad }),
      )
      assert.deepStrictEqual(
        replies.map(({ error }) => error?.code),
        replies.map(() => codes.invalidParams),
      )
    }),
  ),

  behaviour(
    "takes a level for its log, and refuses one that there is not",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const set = (level: string) => client.ask("logging/setLevel", { level })
        assert.deepStrictEqual((yield* set("warning")).result, {})
        assert.strictEqual((yield* set("loud")).error?.code, codes.invalidParams)
      }),
    handshake,
  ),

  behaviour(
    "refuses a level for its log that there is not",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const { error } = yield* client.ask("tools/list", {
          _meta: { "io.modelcontextprotocol/logLevel": "loud" },
        })
        assert.strictEqual(error?.code, codes.invalidParams)
      }),
    stateless,
  ),
]
