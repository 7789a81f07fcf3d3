import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ConversationSettings } from "../../src/ConversationSettings.ts"
import { ConversationManager } from "../../src/ConversationManager.ts"
import * as TestClock from "effect/testing/TestClock"
import { environmentContext } from "../../src/decider/EnvironmentContext.ts"
import {
  answer,
  callItem,
  completed,
  done,
  isEnd,
  managerLayer,
  outputItem,
  says,
  type Script,
  scripted,
  settings,
  takeUntil,
  tools,
  usage,
  userItem,
} from "../support.ts"

type Made = Effect.Success<ReturnType<ConversationManager["Service"]["create"]>>

const run = Effect.fnUntraced(function* (conversation: Made, op: Parameters<Made["submit"]>[0]) {
  const listener = yield* conversation.attach()
  yield* conversation.submit(op)
  yield* takeUntil(listener, isEnd)
}, Effect.scoped)

const environment = environmentContext(settings)
const summed = (said: string, summary: string) =>
  userItem(
    `The conversation up to here was replaced by this message, to make room.\n\nWhat I said in it, oldest first:\n\n${said}\n\nYour own summary of it:\n\n${summary}`,
  )

const lastInput = ({ requests }: Script) => requests.at(-1)?.input

const limited: ConversationSettings = {
  ...settings,
  baseInstructions: "",
  autoCompactTokenLimit: 1_000,
}

/** A turn with a compaction in its middle: a call, then the summary, then the end. */
const long = () =>
  scripted(
    [done(callItem("look", "1")), { _tag: "Completed", usage: usage(1_000, 0) }],
    answer("gist"),
    [done(callItem("look", "2")), completed],
    answer("done"),
  )
const looking = { tools: tools({ look: () => Effect.succeed("seen") }) }

describe("a log with a summary", () => {
  it.effect("gives the same history when the conversation was evicted in between", () => {
    const script = long()
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(limited)
      yield* run(conversation, says("a"))
      yield* TestClock.adjust("1 hour")
      const [item] = (yield* manager.list({ limit: 1 })).items
      assert.deepInclude(item, { id: conversation.id, loaded: false })
      yield* run(yield* manager.get(conversation.id), says("b"))
      assert.deepStrictEqual(lastInput(script)?.slice(0, 4), [
        environment,
        summed("a", "gist"),
        callItem("look", "2"),
        outputItem("2", "seen"),
      ])
    }).pipe(Effect.provide(managerLayer(script, looking)))
  })

  it.effect("is forked with its summary, or before it without", () => {
    const script = scripted(answer("one"), answer("gist"), answer("two"), answer("x"))
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* run(conversation, says("a"))
      yield* run(conversation, { type: "compact" })
      yield* run(conversation, says("b"))
      const behind = yield* manager.fork(conversation.id, { _tag: "DropLastUserMessages", n: 1 })
      yield* run(behind, says("c"))
      assert.deepStrictEqual(lastInput(script), [environment, summed("a", "gist"), userItem("c")])
      const before = yield* manager.fork(conversation.id, { _tag: "DropLastUserMessages", n: 2 })
      yield* run(before, says("d"))
      assert.deepStrictEqual(lastInput(script), [environment, userItem("d")])
    }).pipe(Effect.provide(managerLayer(script)))
  })

  it.effect("includes in a later summary the user messages of the first one", () => {
    const script = scripted(
      answer("one"),
      answer("gist"),
      answer("two"),
      answer("more"),
      answer("x"),
    )
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* run(conversation, says("a"))
      yield* run(conversation, { type: "compact" })
      yield* run(conversation, says("b"))
      yield* TestClock.adjust("1 hour")
      yield* run(conversation, { type: "compact" })
      yield* run(conversation, says("c"))
      assert.deepStrictEqual(lastInput(script), [
        environment,
        summed("a\n\nb", "more"),
        userItem("c"),
      ])
    }).pipe(Effect.provide(managerLayer(script)))
  })
})
