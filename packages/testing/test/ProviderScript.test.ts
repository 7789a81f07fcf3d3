import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as MemoryProvider from "../src/MemoryProvider.ts"
import { render } from "../src/ProviderBody.ts"
import {
  byLastUserText,
  delay,
  drop,
  manyDeltas,
  type ProviderReply,
  type ProviderScript,
  raw,
  reply,
  replyTo,
  status,
  text,
  toolCall,
} from "../src/ProviderScript.ts"

const rendered = (wire: "responses" | "chat", answer: ProviderReply) =>
  answer._tag === "Stream" ? render(wire, answer) : []
const types = (frames: string) => [...frames.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)

describe("ProviderScript.render", () => {
  it("puts everything up to a delay into one write", () => {
    const actions = rendered(
      "responses",
      reply(manyDeltas("x", 1000), delay("1 second"), raw("end")),
    )
    assert.deepStrictEqual(
      actions.map((action) => action._tag),
      ["Write", "Wait", "Write"],
    )
    const [first, wait] = actions
    assert.deepStrictEqual(wait, { _tag: "Wait", duration: Duration.seconds(1) })
    assert.strictEqual(first?._tag === "Write" ? types(first.text).length : 0, 1002)
  })

  it("frames a response as each wire does", () => {
    const answer = reply(text("hi"), toolCall("shell", {}, "c"))
    const write = (wire: "responses" | "chat") => {
      const [only] = rendered(wire, answer)
      return only?._tag === "Write" ? only.text : ""
    }
    assert.deepStrictEqual(types(write("responses")), [
      "response.created",
      "response.output_text.delta",
      "response.output_item.done",
      "response.output_item.done",
      "response.completed",
    ])
    const chat = write("chat")
    assert.isTrue(chat.endsWith("data: [DONE]\n\n"))
    assert.include(chat, '"finish_reason":"tool_calls"')
  })

  it("sends nothing after a broken connection", () => {
    assert.deepStrictEqual(rendered("chat", reply(drop, text("never"))).at(-1), { _tag: "Drop" })
  })
})

describe("ProviderScript.replyTo", () => {
  const ask = (script: ProviderScript, ...bodies: ReadonlyArray<unknown>) =>
    Effect.gen(function* () {
      const provider = yield* MemoryProvider.make(script)
      const client = yield* Effect.provide(HttpClient.HttpClient, provider.layer)
      return yield* Effect.forEach(bodies, (body) =>
        client
          .execute(
            HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post("http://m/v1/responses"), body),
          )
          .pipe(Effect.flatMap((response) => response.text)),
      )
    })

  it.effect("answers request n with reply n and reports when there is none", () =>
    Effect.gen(function* () {
      const script = [status(200, { body: "one" }), status(200, { body: "two" })]
      assert.deepStrictEqual(yield* ask(script, {}, {}, {}), [
        "one",
        "two",
        "the script has 2 replies, this is request 3",
      ])
    }),
  )

  it.effect("chooses by the text of the last user message, on the bodies of both wires", () =>
    Effect.gen(function* () {
      const script = byLastUserText([
        ["hello", status(200, { body: "H" })],
        ["bye", status(200, { body: "B" })],
      ])
      const answers = yield* ask(
        script,
        {
          input: [
            { type: "message", role: "user", content: [{ type: "input_text", text: "say bye" }] },
            { type: "function_call_output", call_id: "c", output: "hello" },
          ],
        },
        {
          messages: [
            { role: "user", content: "hello" },
            { role: "assistant", content: "bye" },
          ],
        },
        "no object",
      )
      assert.deepStrictEqual(answers, ["B", "H", 'no rule for ""'])
    }),
  )

  it("asks a function", () => {
    const script: ProviderScript = ({ index }) => status(200 + index)
    const call = { index: 4, wire: "chat", body: {}, lastUserText: "" } as const
    assert.deepStrictEqual(replyTo(script, call), status(204))
  })
})
