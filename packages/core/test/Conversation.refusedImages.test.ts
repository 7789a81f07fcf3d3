/** An image that the provider refuses fails at most one turn: later requests leave it out, also after a restart. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import type { InputItem, MessageItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { historyOf } from "../src/log/History.ts"
import { imagesOf } from "../src/log/RefusedImages.ts"
import type { ModelRequest } from "../src/ModelClient.ts"
import type { ToolRuntime } from "../src/ToolRuntime.ts"
import { forkLog } from "./forks.ts"
import { killed, processOver } from "./restarts.ts"
import { observed } from "./stores.ts"
import {
  answer,
  assistantItem,
  callItem,
  completed,
  conversationId,
  done,
  durableOf,
  existing,
  isEnd,
  modelError,
  open,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  tools,
  userItem,
} from "./support.ts"

const bad = "data:image/png;base64,AAAAAA=="
const alsoBad = "data:image/png;base64,BBBB"
const good = "data:image/jpeg;base64,iVBO"
const placeholder = "[image left out: the model provider refused it]"
const cause = 'unexpected status 400 Bad Request: {"error":{"message":"Invalid image"}}'

const refusal = modelError({ reason: "Image", message: cause, retryable: false })

/** A provider that refuses every request with an image of these, and otherwise gives the responses in order. */
const refusing = (urls: ReadonlyArray<string>, ...responses: ReadonlyArray<Response>) => {
  let place = 0
  const respond = (request: ModelRequest) => {
    if (imagesOf(request.input).some((url) => urls.includes(url))) return Stream.fail(refusal)
    const response = responses[Math.min(place++, responses.length - 1)] ?? answer("ok")
    if (typeof response === "function") return response(request)
    return Stream.isStream(response) ? response : Stream.fromIterable(response)
  }
  return respond
}

const image = (image_url: string): InputItem => ({ type: "image", image_url })
const shows = (text: string, ...urls: ReadonlyArray<string>): Op => ({
  type: "user_input",
  items: [{ type: "text", text }, ...urls.map(image)],
})
const shown = (...content: ReadonlyArray<string>): MessageItem => ({
  type: "message",
  role: "user",
  content: content.map((text) =>
    text.startsWith("data:")
      ? { type: "input_image", image_url: text }
      : { type: "input_text", text },
  ),
})

type Opened = Effect.Success<ReturnType<typeof open>>

/** Submits the op and takes deliveries until the turn has ended. Resolves with the events that say how it went. */
const turn = ({ conversation, listener }: Opened, op: Op, id: string) =>
  Effect.map(Effect.andThen(conversation.submit(op, { id }), takeUntil(listener, isEnd)), (seen) =>
    durableOf(seen).flatMap(({ msg }): ReadonlyArray<EventMsg> =>
      msg.type === "error" || msg.type === "stream_error" || msg.type === "task_complete"
        ? [msg]
        : [],
    ),
  )

/** What the request contains behind the environment context. */
const sent = ({ requests }: Pick<Opened, "requests">, index: number) =>
  requests[index]?.input.slice(1)

const failure = (names: string, count: number, skip = 0): ReadonlyArray<EventMsg> => [
  {
    type: "error",
    message: `the model provider refused ${count === 1 ? "an image" : `one of ${count} images`} (${names}); later requests leave ${count === 1 ? "it" : "them"} out: ${cause}`,
    refused_images: { skip, count },
  },
  { type: "task_complete", last_agent_message: null },
]

const again = (names: string, skip = 0, count = 1): EventMsg => ({
  type: "stream_error",
  message: `stream error: the model provider refused ${count === 1 ? "an image" : `one of ${count} images`} (${names}): ${cause}; sending the request again without…`,
  refused_images: { skip, count },
})

const completes = (last_agent_message: string): EventMsg => ({
  type: "task_complete",
  last_agent_message,
})

/** Tools of which `look` attaches this image. */
const looking = (url: string): ToolRuntime["Service"] => ({
  ...tools(),
  open: () =>
    Effect.succeed({
      specs: Effect.succeed([]),
      isReadOnly: () => false,
      run: () => Effect.succeed({ output: "attached", images: [url] }),
    }),
})

const look: Response = [done(callItem("look", "c")), completed]

describe("an image that the provider refuses", () => {
  it.effect(
    "fails the turn that brought it, which names it, and the next one is sent without",
    () =>
      Effect.gen(function* () {
        const it = yield* open([refusing([bad], answer("one"), answer("two"), answer("three"))])
        assert.deepStrictEqual(yield* turn(it, shows("hi", good), "a"), [completes("one")])
        assert.deepStrictEqual(
          yield* turn(it, shows("see", bad, alsoBad), "b"),
          failure("image/png, 4 bytes; image/png, 3 bytes", 2, 1),
        )
        assert.strictEqual(it.requests.length, 2)
        assert.deepStrictEqual(yield* turn(it, says("go on"), "c"), [completes("two")])
        assert.deepStrictEqual(sent(it, 2), [
          shown("hi", good),
          assistantItem("one"),
          shown("see", placeholder, placeholder),
          userItem("go on"),
        ])
        assert.deepStrictEqual(yield* turn(it, shows("this", good), "d"), [completes("three")])
        assert.deepStrictEqual(sent(it, 3)?.at(-1), shown("this", good))
      }),
  )

  it.effect("is named by the path of its file", () =>
    Effect.gen(function* () {
      const it = yield* open([refusing([bad])], {
        tools: { ...tools(), readImage: () => Effect.succeed({ url: bad }) },
      })
      const op: Op = { type: "user_input", items: [{ type: "local_image", path: "/tmp/a.png" }] }
      assert.deepStrictEqual(yield* turn(it, op, "a"), failure("/tmp/a.png", 1))
    }),
  )

  it.effect("of a tool does not end the turn", () =>
    Effect.gen(function* () {
      const it = yield* open([refusing([bad], look, answer("done"))], { tools: looking(bad) })
      assert.deepStrictEqual(yield* turn(it, says("look"), "a"), [
        again("image/png, 4 bytes"),
        completes("done"),
      ])
      assert.strictEqual(it.requests.length, 3)
      assert.deepStrictEqual(sent(it, 2)?.at(-1), shown(placeholder))
    }),
  )

  it.effect("in an earlier turn, as after a change of the model, does not fail the turn", () =>
    Effect.gen(function* () {
      const urls: Array<string> = []
      const it = yield* open([refusing(urls, answer("one"), answer("two"))])
      yield* turn(it, shows("hi", good), "a")
      urls.push(good)
      assert.deepStrictEqual(yield* turn(it, says("go on"), "b"), [
        again("image/jpeg, 3 bytes"),
        completes("two"),
      ])
      assert.deepStrictEqual(sent(it, 2), [
        shown("hi", placeholder),
        assistantItem("one"),
        userItem("go on"),
      ])
    }),
  )

  it.effect("does not take along one that joins the turn meanwhile", () =>
    Effect.gen(function* () {
      const hold = Stream.fromEffect(Effect.delay(Effect.fail(refusal), "1 second"))
      const it = yield* open([look, hold, answer("done")], { tools: looking(bad) })
      yield* it.conversation.submit(says("look"), { id: "a" })
      yield* settle
      yield* it.conversation.submit(shows("and", good), { id: "b" })
      yield* TestClock.adjust("1 second")
      yield* takeUntil(it.listener, isEnd)
      assert.deepStrictEqual(sent(it, 2)?.slice(-2), [shown(placeholder), shown("and", good)])
    }),
  )

  it.effect("is an ordinary failure where the request has no image", () =>
    Effect.gen(function* () {
      const it = yield* open([Stream.fail(refusal)])
      assert.deepStrictEqual(yield* turn(it, says("hi"), "a"), [
        { type: "error", message: cause },
        { type: "task_complete", last_agent_message: null },
      ])
    }),
  )

  it.effect("does not come back with a revert of later turns", () =>
    Effect.gen(function* () {
      const it = yield* open([refusing([bad], answer("two"), answer("three"))])
      yield* turn(it, shows("see", bad), "a")
      yield* turn(it, says("go on"), "b")
      yield* it.conversation.submit({ type: "revert", turn_id: "b" })
      assert.deepStrictEqual(yield* turn(it, says("other"), "c"), [completes("three")])
      assert.deepStrictEqual(sent(it, 2), [shown("see", placeholder), userItem("other")])
      yield* it.conversation.submit({ type: "revert", turn_id: "a" })
      yield* turn(it, says("new"), "d")
      assert.deepStrictEqual(sent(it, 3), [userItem("new")])
    }),
  )

  it.effect("stays left out of a fork and of a log that is loaded", () =>
    Effect.gen(function* () {
      const it = yield* open([refusing([bad], answer("one"))])
      yield* turn(it, shows("see", bad), "a")
      yield* turn(it, says("go on"), "b")
      const log = yield* it.conversation.durableEvents
      const expected = [shown("see", placeholder), userItem("go on"), assistantItem("one")]
      assert.deepStrictEqual(historyOf(log).slice(1), expected)
      assert.deepStrictEqual(existing(log).log.history().slice(1), expected)
      const forked = forkLog(
        log,
        { _tag: "ThroughSubmission", id: "a" },
        { id: conversationId, settings },
      )
      assert.deepStrictEqual(historyOf(forked).slice(1), expected.slice(0, 1))
    }),
  )

  it.effect(
    "stays left out when a summary replaces the history, which does not quote the placeholder",
    () =>
      Effect.gen(function* () {
        const it = yield* open([refusing([bad], answer("gist"), answer("two"))])
        yield* turn(it, shows("see", bad), "a")
        yield* turn(it, { type: "compact" }, "b")
        assert.deepStrictEqual(sent(it, 1)?.[0], shown("see", placeholder))
        yield* turn(it, says("go on"), "c")
        const text = JSON.stringify(sent(it, 2))
        assert.include(text, "see")
        assert.notInclude(text, "left out")
      }),
  )

  it.effect("does not fail a summary", () =>
    Effect.gen(function* () {
      const urls: Array<string> = []
      const it = yield* open([refusing(urls, answer("one"), answer("gist"))])
      yield* turn(it, shows("see", bad), "a")
      urls.push(bad)
      assert.deepStrictEqual(yield* turn(it, { type: "compact" }, "b"), [
        { type: "task_complete", last_agent_message: null },
      ])
      assert.deepStrictEqual(sent(it, 2)?.[0], shown("see", placeholder))
    }),
  )

  it.effect("L11 fails at most one turn, wherever the process ends and starts again", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, scripted(refusing([bad])))
      const made = yield* first.create(settings)
      const { id } = made
      yield* made.submit(shows("see", bad), { id: "a" })
      yield* settle
      const records = store.records(id)
      const place = (type: EventMsg["type"]) =>
        records.findIndex((one) => one._tag === "Event" && one.event.msg.type === type)
      for (let count = place("user_message") + 1; count <= records.length; count++) {
        const left = yield* killed(store, id, count)
        const script = scripted(refusing([bad], answer("two")))
        const loaded = yield* (yield* processOver(left, script)).get(id)
        yield* loaded.submit(says("go on"), { id: "b" })
        yield* settle
        const isRecorded = count > place("error")
        assert.deepStrictEqual(sent(script, 0), [
          shown("see", isRecorded ? placeholder : bad),
          userItem("go on"),
        ])
        yield* loaded.submit(says("and"), { id: "c" })
        yield* settle
        const last = script.requests.at(-1)?.input ?? []
        assert.strictEqual(script.requests.length, 2)
        assert.deepStrictEqual(imagesOf(last), [])
        assert.deepStrictEqual(last.at(-1), userItem("and"))
      }
    }),
  )
})
