/** When a submission needs the state of the conversation, which may be on another node of a cluster. */
import type { Conversation } from "@colloquy/core/Conversation"
import { initialState } from "@colloquy/core/decider/State"
import { ConversationId } from "@colloquy/protocol/Ids"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Workspace } from "../../src/Workspace.ts"

const words: InputItem = { type: "text", text: "hi" }
const image: InputItem = { type: "local_image", path: "a.png" }

/** How often the state is read for one submission, and what is submitted. */
const submitted = (root: string | undefined, items: ReadonlyArray<InputItem>) =>
  Effect.gen(function* () {
    let reads = 0
    const passed: Array<unknown> = []
    const conversation: Conversation = {
      id: ConversationId.make("01999999-9999-7999-8999-999999999999"),
      submit: (op) =>
        Effect.sync(() => {
          passed.push(op)
          return { id: "0", disposition: "started" }
        }),
      runTurn: () => assert.fail("no listener is attached"),
      cancel: () => Effect.void,
      attach: () => assert.fail("no listener is attached"),
      events: () => assert.fail("no stream is read"),
      state: Effect.sync(() => {
        reads++
        return initialState(scriptedSettings({ cwd: "/work" }))
      }),
      loaded: Effect.void,
    }
    const workspaces = { rootOf: () => root, realPath: (path: string) => Effect.succeed(path) }
    const resolver = { resolve: () => Effect.succeed(scriptedSettings()) }
    const confined = new Workspace(workspaces, "someone", resolver).confine(conversation)
    yield* confined.submit({ type: "user_input", items })
    return { reads, passed }
  })

describe("the state of a conversation is read for input", () => {
  it.effect("of a principal with a root, and for the path of an image", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* submitted("/work", [words])).reads, 1)
      const { passed, reads } = yield* submitted(undefined, [words, image])
      assert.strictEqual(reads, 1)
      const items = [words, { ...image, path: "/work/a.png" }]
      assert.deepStrictEqual(passed, [{ type: "user_input", items }])
    }),
  )

  it.effect("and not for words of a principal who may work everywhere", () =>
    Effect.gen(function* () {
      const { passed, reads } = yield* submitted(undefined, [words])
      assert.strictEqual(reads, 0)
      assert.deepStrictEqual(passed, [{ type: "user_input", items: [words] }])
    }),
  )
})
