import type { Op } from "@colloquy/protocol/Op"
import type { InputItem, MessageItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { maxItems, maxTextLength } from "../src/decider/InputLength.ts"
import type { ToolRuntime } from "../src/ToolRuntime.ts"
import { answer, isEnd, open, settings, takeUntil, tools } from "./support.ts"

type Read = NonNullable<ToolRuntime["Service"]["readImage"]>

const shows = (path: string): InputItem => ({ type: "local_image", path })
const input = (...items: ReadonlyArray<InputItem>): Op => ({ type: "user_input", items })

/** Opens a conversation whose machine reads images with this function, and collects the paths that were read. */
const opened = Effect.fnUntraced(function* (image: Read | undefined) {
  const read: Array<string> = []
  const runtime: ToolRuntime["Service"] = {
    ...tools(),
    ...(image === undefined
      ? {}
      : {
          readImage: (path, { cwd }) => {
            read.push(`${cwd} ${path}`)
            return image(path, settings)
          },
        }),
  }
  return { ...(yield* open([answer("ok")], { tools: runtime })), read }
})

const png: Read = (path) =>
  Effect.succeed(path === "none.png" ? { problem: "no such file" } : { url: `data:${path}` })

const contentOf = ({
  requests,
}: {
  readonly requests: Effect.Success<ReturnType<typeof open>>["requests"]
}) => (requests[0]?.input.at(-1) as MessageItem | undefined)?.content

describe("local images", () => {
  it.effect("are shown to the model as they are when the input is accepted", () =>
    Effect.gen(function* () {
      const it = yield* opened(png)
      yield* it.conversation.submit(
        input({ type: "text", text: "what is it?" }, shows("a.png"), shows("none.png")),
      )
      yield* takeUntil(it.listener, isEnd)
      assert.deepStrictEqual(contentOf(it), [
        { type: "input_text", text: "what is it?" },
        { type: "input_image", image_url: "data:a.png" },
        { type: "input_text", text: "[image at none.png: no such file]" },
      ])
      assert.deepStrictEqual(it.read, ["/work a.png", "/work none.png"])
    }),
  )

  it.effect("are searched in the working directory of the turn", () =>
    Effect.gen(function* () {
      const it = yield* opened(png)
      yield* it.conversation.submit({
        type: "user_turn",
        items: [shows("a.png")],
        cwd: "/elsewhere",
        approval_policy: "never",
        sandbox_policy: { mode: "read-only" },
        model: "mock-model",
        summary: "auto",
      })
      assert.deepStrictEqual(it.read, ["/elsewhere a.png"])
    }),
  )

  it.effect("are named by their path when no reader of files is provided", () =>
    Effect.gen(function* () {
      const it = yield* opened(undefined)
      yield* it.conversation.submit(input(shows("a.png")))
      yield* takeUntil(it.listener, isEnd)
      assert.deepStrictEqual(contentOf(it), [{ type: "input_text", text: "[image at a.png]" }])
    }),
  )

  it.effect("L13 are not read beyond the limit of one submission, which is refused", () =>
    Effect.gen(function* () {
      const half = "x".repeat(maxTextLength / 2)
      const it = yield* opened(() => Effect.succeed({ url: half }))
      const four = ["a", "b", "c", "d", "e"].map(shows)
      const refused = yield* Effect.flip(it.conversation.submit(input(...four)))
      assert.deepInclude(refused, { _tag: "SubmissionRefused", reason: "TooLarge" })
      assert.strictEqual(it.read.length, 3)
      const many = Array.from({ length: maxItems + 1 }, () => shows("a"))
      yield* Effect.flip(it.conversation.submit(input(...many)))
      assert.strictEqual(it.read.length, 3)
    }),
  )
})
