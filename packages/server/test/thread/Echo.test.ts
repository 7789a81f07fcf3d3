/** The messages of users, as their items show them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { resultOf } from "../support/AppHarness.ts"
import { at, started, told, withThreads } from "../support/Threading.ts"

const url = "data:image/png;base64,AA=="

const sent = [
  {
    type: "text",
    text: "see @a.ts and go",
    text_elements: [
      { byteRange: { start: 4, end: 9 }, placeholder: "a.ts" },
      { byteRange: { start: 10, end: 13 }, placeholder: null },
    ],
  },
  { type: "image", url, detail: "high" },
  { type: "skill", name: "deploy", path: "/skills/deploy/SKILL.md" },
  { type: "text", text: "", text_elements: [] },
  { type: "mention", name: "a.ts", path: "/work/a.ts" },
  { type: "localImage", path: "/work/none.png", detail: "low" },
  { type: "image", url, detail: null },
]

/** The contents of the messages in a list of items. */
const contents = (items: unknown) =>
  (items as ReadonlyArray<object>).flatMap((item) =>
    at(item, "type") === "userMessage" ? [at(item, "content")] : [],
  )

describe("userMessage", () => {
  it.effect("has the content that was sent, live and in the history, and the model its text", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* app.ask("turn", "turn/start", { threadId, input: sent })
        yield* app.quiet
        for (const method of ["item/started", "item/completed"]) {
          const items = told(app, method).map((params) => at(params, "item"))
          assert.deepStrictEqual(contents(items), [sent], method)
        }
        const read = resultOf(
          yield* app.ask("read", "thread/read", { threadId, includeTurns: true }),
        )
        assert.deepStrictEqual(contents(at(read, "thread", "turns", 0, "items")), [sent])
        const [request] = yield* app.provider.requests
        const input = JSON.stringify(at(request?.body, "input"))
        assert.include(input, '{"type":"input_text","text":"see @a.ts and go"}')
        assert.include(input, "Use the skill `deploy` (/skills/deploy/SKILL.md).")
        assert.notInclude(input, "byte")
        assert.notInclude(input, "high")
      }),
    ),
  )

  it.effect("of several texts keeps them apart", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const two = ["one", "two"].map((text) => ({ type: "text", text, text_elements: [] }))
        yield* app.ask("turn", "turn/start", { threadId, input: two })
        yield* app.quiet
        const items = told(app, "item/completed").map((params) => at(params, "item"))
        assert.deepStrictEqual(contents(items), [two])
      }),
    ),
  )
})
