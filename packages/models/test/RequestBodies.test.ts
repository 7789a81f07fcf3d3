import type { ModelRequest, ToolSpec } from "@colloquy/core/ModelClient"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as ChatWire from "../src/ChatWire.ts"
import { RequestBodies } from "../src/internal/RequestBodies.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"
import { assistant, call, output, request, user } from "./support/Requests.ts"

const wires = [
  ["responses", ResponsesWire],
  ["chat", ChatWire],
] as const

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const textOf = (bodies: RequestBodies, asked: ModelRequest) => decoder.decode(bodies.encode(asked))

const tools: ReadonlyArray<ToolSpec> = [
  { type: "function", name: "shell", description: "Runs \u2026", parameters: { type: "object" } },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits",
    format: { type: "grammar", syntax: "lark", definition: "start: x" },
  },
  { type: "local_shell" },
  { type: "web_search" },
  { type: "function", name: "plan", description: "", parameters: { type: "object", input: [] } },
]

const texts = [
  "",
  "plain",
  '"quoted" \\ \n\t\u0000',
  "\u00e9\u00ff",
  "\u2026 \u{1F600}",
  "\ud800 alone",
  "\u2028",
  "x".repeat(20_000),
]

const anyOf = <A>(choices: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, choices.length - 1), (at) => choices[at] as A)

const anyItem: Effect.Effect<ResponseItem> = Effect.flatMap(anyOf(texts), (text) =>
  anyOf<ResponseItem>([
    user(text),
    assistant(text),
    call("c1", "shell", text),
    output("c1", text),
    { type: "reasoning", summary: [{ type: "summary_text", text }], encrypted_content: null },
    { type: "message", role: "user", content: [{ type: "input_image", image_url: text }] },
    { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: text },
    { type: "custom_tool_call_output", call_id: "c2", output: text },
    { type: "web_search_call", status: "completed" },
  ]),
)

/** The next history of a conversation: longer, with another end, summarised, or that of a fork. */
const grow = (input: ReadonlyArray<ResponseItem>) =>
  Effect.gen(function* () {
    const item = yield* anyItem
    const cut = yield* Random.nextIntBetween(0, input.length)
    const kind = yield* Random.nextIntBetween(0, 9)
    if (kind === 0) return [item, ...input.slice(cut)]
    if (kind === 1) return [...input.slice(0, cut), item]
    if (kind === 2) return [...input.slice(0, -1), item]
    return [...input, item]
  })

describe("bodies of requests", () => {
  it.effect.each(wires)("are those of plain encoding on the %s wire, for any history", ([, wire]) =>
    Effect.gen(function* () {
      const bodies = new RequestBodies(wire)
      let input: ReadonlyArray<ResponseItem> = []
      for (let i = 0; i < 400; i++) {
        input = yield* grow(input)
        const asked = request({
          input,
          instructions: yield* anyOf(texts),
          tools: (yield* Random.nextBoolean) ? tools : tools.slice(1, yield* anyOf([1, 2, 5])),
          ...((yield* Random.nextBoolean) ? { effort: "high", verbosity: "low" } : {}),
          model: yield* anyOf(["gpt-5", "m \u2026"]),
        })
        assert.strictEqual(textOf(bodies, asked), JSON.stringify(wire.body(asked)))
      }
    }).pipe(Random.withSeed("bodies")),
  )

  it("contain a tool's new description, though its parameters are the same object", () => {
    const bodies = new RequestBodies(ResponsesWire)
    const parameters = { type: "object" }
    for (const description of ["first", "second"]) {
      const spec: ToolSpec = { type: "function", name: "t", description, parameters }
      const asked = request({ tools: [spec] })
      assert.strictEqual(textOf(bodies, asked), JSON.stringify(ResponsesWire.body(asked)))
    }
  })

  it("encode an item once, whatever the length of the history", () => {
    let encoded = 0
    const counted = (text: string): ResponseItem => {
      const item = user(text)
      return Object.assign(Object.create(null) as ResponseItem, item, {
        toJSON: () => {
          encoded++
          return item
        },
      })
    }
    const perRequest: Array<number> = []
    const bodies = new RequestBodies(ResponsesWire)
    const input = Array.from({ length: 100 }, (_, i) => counted(`${i} ${"x".repeat(1000)}`))
    for (let turn = 0; turn < 50; turn++) {
      input.push(counted("question"), counted("answer"))
      encoded = 0
      bodies.encode(request({ input: [...input] }))
      perRequest.push(encoded)
    }
    assert.deepStrictEqual(
      perRequest.slice(1),
      Array.from({ length: 49 }, () => 2),
    )
  })

  it("encode instructions and tools once for all conversations", () => {
    let encoded = 0
    const parameters = {
      toJSON: () => {
        encoded++
        return { type: "object" }
      },
    }
    const bodies = new RequestBodies(ResponsesWire)
    for (let i = 0; i < 5; i++) {
      const spec: ToolSpec = { type: "function", name: "t", description: "d", parameters }
      bodies.encode(request({ tools: [spec], input: [user(`turn ${i}`)] }))
    }
    assert.strictEqual(encoded, 1)
  })
})
