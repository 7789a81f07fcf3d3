/** Two connections of one server, on behalf of two principals: neither sees anything of the other. */
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  withApp,
  created,
  hello,
  listening,
  resultOf,
  say,
  unknownId,
} from "./support/AppHarness.ts"
import { asking, exec, initialize, oneCall } from "./support/Asking.ts"
import { defaultReply, type Harness, type HarnessOptions, withServer } from "./support/Harness.ts"
import * as PathStore from "./support/PathStore.ts"
import { about, asked, callAsTask, decided, taskIdIn } from "./support/Tasking.ts"
import { callResult, textOf, type WireMessage } from "./support/Wire.ts"

/** Two initialized connections; the second one acts on behalf of "bob". */
const withTwo = <A, E>(
  options: HarnessOptions,
  body: (local: Harness, bob: Harness) => Effect.Effect<A, E, Scope.Scope>,
) =>
  withServer(options, (local) =>
    Effect.gen(function* () {
      const bob = yield* local.as("bob")
      for (const one of [local, bob]) {
        yield* one.send(initialize({ elicitation: {} }))
        yield* one.response("i")
      }
      return yield* body(local, bob)
    }),
  )

/** The message without the members that differ between calls: its id, and the id of the conversation. */
const anonymous = (message: WireMessage, id: string) =>
  JSON.parse(JSON.stringify({ ...message, id: null }).replaceAll(id, "<id>")) as unknown

/** Asserts that the request about `id` is answered as the same request about an unknown id. */
const assertUnknown = (
  client: Harness,
  method: string,
  params: (id: string) => object,
  id: string,
) =>
  Effect.gen(function* () {
    const about = yield* client.ask(`${method} it`, method, params(id))
    const unknown = yield* client.ask(`${method} unknown`, method, params(unknownId))
    assert.deepStrictEqual(anonymous(about, id), anonymous(unknown, unknownId), method)
  })

const uriOf = (id: string) => `colloquy://conversations/${id}`

const toolArguments: ReadonlyArray<readonly [tool: string, args: (id: string) => object]> = [
  ["codex-reply", (id) => ({ conversationId: id, prompt: "more" })],
  [
    "conversationSendMessage",
    (id) => ({ conversation_id: id, content: [{ type: "text", text: "more" }] }),
  ],
  ["conversationStatus", (id) => ({ conversation_id: id })],
  ["conversationStream", (id) => ({ conversation_id: id })],
  ["conversationWait", (id) => ({ conversation_id: id, timeout_ms: 0 })],
  ["conversationInterrupt", (id) => ({ conversation_id: id })],
  ["conversationFork", (id) => ({ conversation_id: id })],
  ["conversationRemove", (id) => ({ conversation_id: id })],
]

const threadOf = (message: WireMessage) =>
  String(callResult(message).structuredContent?.["threadId"])

describe("two principals over MCP", () => {
  it.effect.each(toolArguments)("%s treats the other's conversation as unknown", ([tool, args]) =>
    withTwo({ ownTools: "all" }, (local, bob) =>
      Effect.gen(function* () {
        const id = threadOf(yield* bob.call(1, "codex", { prompt: "hi" }))
        const params = (about: string) => ({ name: tool, arguments: args(about) })
        yield* assertUnknown(local, "tools/call", params, id)
        const own = threadOf(yield* local.call(2, "codex", { prompt: "hi" }))
        yield* assertUnknown(bob, "tools/call", params, own)
        // It is unchanged.
        const status = yield* bob.call(3, "conversationStatus", { conversation_id: id })
        assert.strictEqual(callResult(status).structuredContent?.["status"], "idle")
      }),
    ),
  )

  it.effect("lists, completes, reads and subscribes to only its own conversations", () =>
    withTwo({ ownTools: "all" }, (local, bob) =>
      Effect.gen(function* () {
        const mine = threadOf(yield* local.call(1, "codex", { prompt: "hi" }))
        const his = threadOf(yield* bob.call(1, "codex", { prompt: "hi" }))
        for (const [client, id, other] of [
          [local, mine, his],
          [bob, his, mine],
        ] as const) {
          const { structuredContent } = callResult(yield* client.call(2, "conversationsList"))
          const listed = (structuredContent ?? {})["conversations"] as ReadonlyArray<object>
          assert.deepStrictEqual(
            listed.map((one) => Reflect.get(one, "conversation_id")),
            [id],
          )
          const resources = resultOf(yield* client.ask(3, "resources/list", {}))["resources"]
          assert.deepStrictEqual(
            (resources as ReadonlyArray<object>).map((one) => Reflect.get(one, "uri")),
            [uriOf(id)],
          )
          const completion = yield* client.ask(4, "completion/complete", {
            ref: { type: "ref/resource", uri: "colloquy://conversations/{id}" },
            argument: { name: "id", value: "" },
          })
          assert.deepInclude(resultOf(completion)["completion"], { values: [id] })
          for (const method of ["resources/read", "resources/subscribe"]) {
            resultOf(yield* client.ask(`${method} own`, method, { uri: uriOf(id) }))
            yield* assertUnknown(client, method, (about) => ({ uri: uriOf(about) }), other)
          }
        }
      }),
    ),
  )

  it.effect("a cursor of one principal is refused to the other", () =>
    withTwo({ pageSize: 1 }, (local, bob) =>
      Effect.gen(function* () {
        const cursor = resultOf(yield* bob.ask(1, "tools/list"))["nextCursor"]
        const stolen = yield* local.ask(2, "tools/list", { cursor })
        const forged = yield* local.ask(3, "tools/list", { cursor: "none" })
        assert.deepStrictEqual(stolen.error, forged.error)
        resultOf(yield* bob.ask(4, "tools/list", { cursor }))
      }),
    ),
  )

  it.effect.each([asked, decided])(
    "$name: a task of one principal can be neither polled, cancelled nor answered by the other",
    (form) =>
      withServer({ script: [Script.reply(Script.hang)] }, (local) =>
        Effect.gen(function* () {
          const bob = yield* local.as("bob")
          for (const one of [local, bob]) yield* form.hello(one)
          const taskId = taskIdIn(yield* callAsTask(bob, form, 2, "codex", { prompt: "hi" }))
          yield* bob.quiet
          const methods =
            form === asked
              ? ["tasks/get", "tasks/result", "tasks/cancel"]
              : ["tasks/get", "tasks/cancel"]
          for (const method of methods) {
            const ask = about(local, form)
            const refused = yield* ask(method, { taskId })
            const unknown = yield* ask(method, { taskId: "none" })
            assert.deepStrictEqual(refused.error, unknown.error, method)
          }
          const state = (yield* about(bob, form)("tasks/get", { taskId })).result
          assert.strictEqual(state?.["status"], "working")
        }),
      ),
  )

  it.effect("L7 a question is put only to the principal of its conversation", () => {
    const { tools, verdicts } = asking([exec])
    return withTwo({ script: oneCall, tools }, (local, bob) =>
      Effect.gen(function* () {
        yield* bob.send({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "codex", arguments: { prompt: "ask" } },
        })
        yield* bob.quiet
        yield* local.quiet
        const questions = ({ messages }: Harness) =>
          messages.filter(({ method }) => method === "elicitation/create")
        assert.deepStrictEqual([questions(local).length, questions(bob).length], [0, 1])
        yield* bob.send({
          jsonrpc: "2.0",
          id: questions(bob)[0]?.id,
          result: { action: "accept", content: { decision: "approved" } },
        })
        assert.strictEqual(textOf(yield* bob.response(1)), "done")
        assert.strictEqual(verdicts.length, 1)
      }),
    )
  })
})

const methods: ReadonlyArray<readonly [method: string, params: (id: string) => object]> = [
  ["sendUserMessage", (id) => ({ conversationId: id, items: [] })],
  ["interruptConversation", (id) => ({ conversationId: id })],
  ["addConversationListener", (id) => ({ conversationId: id })],
  ["getConversation", (id) => ({ conversationId: id })],
  ["forkConversation", (id) => ({ conversationId: id })],
  ["archiveConversation", (id) => ({ conversationId: id })],
]

describe("two principals over the app-server", () => {
  it.effect("a conversation of one principal is neither listed nor used by the other", () =>
    withApp({ store: PathStore.layer }, (local) =>
      Effect.gen(function* () {
        const bob = yield* local.as("bob")
        yield* hello(bob)
        const id = yield* created(bob)
        yield* listening(bob, id)
        yield* say(bob, id, "hi")
        yield* bob.quiet
        const items = (message: WireMessage) => resultOf(message)["items"] as ReadonlyArray<object>
        assert.lengthOf(items(yield* bob.ask("list", "listConversations", {})), 1)
        assert.deepStrictEqual(items(yield* local.ask("list", "listConversations", {})), [])
        for (const [method, params] of methods) yield* assertUnknown(local, method, params, id)
        const path = String(
          Reflect.get(items(yield* bob.ask("again", "listConversations", {}))[0] ?? {}, "path"),
        )
        for (const [method, params] of [
          ["resumeConversation", (at: string) => ({ path: at })],
          ["archiveConversation", (at: string) => ({ conversationId: unknownId, rolloutPath: at })],
        ] as const) {
          const stolen = yield* local.ask(`${method} path`, method, params(path))
          const none = yield* local.ask(
            `${method} no path`,
            method,
            params(path.replace(id, unknownId)),
          )
          assert.isDefined(none.error, method)
          assert.deepStrictEqual(
            JSON.stringify(stolen.error).replaceAll(id, unknownId),
            JSON.stringify(none.error),
            method,
          )
        }
        assert.deepStrictEqual(
          local.messages.filter(({ method }) => method !== undefined),
          [],
        )
        resultOf(yield* bob.ask("resume", "resumeConversation", { path }))
      }),
    ),
  )

  it.effect("rate limits of one principal are not sent to the other", () =>
    withApp({ script: () => defaultReply }, (local) =>
      Effect.gen(function* () {
        const bob = yield* local.as("bob")
        yield* hello(bob)
        const id = yield* created(bob)
        yield* listening(bob, id)
        yield* say(bob, id, "hi")
        yield* bob.quiet
        yield* local.quiet
        assert.deepStrictEqual(
          local.messages.filter(({ method }) => method !== undefined),
          [],
        )
      }),
    ),
  )
})

describe("ownership", () => {
  it.effect("an embedding program reaches the conversations of every principal", () =>
    withTwo({}, (local, bob) =>
      Effect.gen(function* () {
        const his = threadOf(yield* bob.call(1, "codex", { prompt: "hi" }))
        const mine = threadOf(yield* local.call(1, "codex", { prompt: "hi" }))
        const { manager } = local
        const all = yield* manager.list()
        assert.sameMembers(
          all.items.map(({ id }) => String(id)),
          [his, mine],
        )
        assert.strictEqual(
          (yield* manager.metadata({ id: (yield* manager.get(his)).id })).meta.owner,
          "bob",
        )
        const { meta } = yield* manager.metadata({ id: (yield* manager.get(mine)).id })
        assert.isUndefined(meta.owner)
        const fork = yield* manager.fork(his, { _tag: "DropLastUserMessages", n: 0 })
        assert.strictEqual((yield* manager.metadata({ id: fork.id })).meta.owner, "bob")
      }),
    ),
  )
})
