import type { Event } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type CompletedTurn, notifyCompleted } from "../../src/decider/CompletedTurn.ts"
import { ConversationManager } from "../../src/ConversationManager.ts"
import * as Conversations from "../../src/manager/Conversations.ts"
import { IdGenerator } from "../../src/IdGenerator.ts"
import { MemoryStore } from "../../src/store/MemoryStore.ts"
import { ModelClient } from "../../src/ModelClient.ts"
import { SettingsResolver } from "../../src/ConversationSettings.ts"
import { ToolRuntime } from "../../src/ToolRuntime.ts"
import {
  answer,
  callItem,
  completed,
  done,
  isEnd,
  modelError,
  type Response,
  says,
  scripted,
  settings,
  takeUntil,
  tools,
} from "../support.ts"
import * as Stream from "effect/Stream"

type Manager = ConversationManager["Service"]

const managed = (
  onTurnCompleted: (turn: CompletedTurn) => void,
  ...responses: ReadonlyArray<Response>
) =>
  Conversations.layerWith({ onTurnCompleted }).pipe(
    Layer.provide([
      Layer.succeed(ModelClient, scripted(...responses).service),
      Layer.succeed(ToolRuntime, tools({ look: () => Effect.succeed("seen") })),
      IdGenerator.layer,
      MemoryStore.layer,
      Layer.succeed(SettingsResolver, { resolve: () => Effect.succeed(settings) }),
    ]),
  )

const speak = Effect.fnUntraced(function* (
  conversation: Effect.Success<ReturnType<Manager["create"]>>,
  text: string,
) {
  const listener = yield* conversation.attach()
  yield* conversation.submit(says(text))
  yield* takeUntil(listener, isEnd)
}, Effect.scoped)

describe("onTurnCompleted", () => {
  it.effect(
    "is called for each turn that the model answered, with the user messages so far",
    () => {
      const seen: Array<CompletedTurn> = []
      return Effect.gen(function* () {
        const manager = yield* ConversationManager
        const conversation = yield* manager.create({ ...settings, cwd: "/here" })
        yield* speak(conversation, "first")
        yield* speak(conversation, "second")
        const of = { conversationId: conversation.id, cwd: "/here" }
        assert.deepStrictEqual(seen, [
          { ...of, turnId: "0", inputMessages: ["first"], lastAgentMessage: "one" },
          { ...of, turnId: "1", inputMessages: ["first", "second"], lastAgentMessage: "three" },
        ])
      }).pipe(
        Effect.provide(
          managed(
            (turn) => seen.push(turn),
            answer("one"),
            [done(callItem("look", "c")), completed],
            answer("three"),
          ),
        ),
      )
    },
  )

  it.effect(
    "is not called for a turn that failed, was interrupted or only summarised the history",
    () => {
      const seen: Array<CompletedTurn> = []
      return Effect.gen(function* () {
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        yield* speak(conversation, "fails")
        const listener = yield* conversation.attach()
        yield* conversation.submit(says("hangs"))
        yield* conversation.submit({ type: "interrupt" })
        yield* takeUntil(listener, isEnd)
        yield* conversation.submit(says("is answered"))
        yield* takeUntil(listener, isEnd)
        yield* conversation.submit({ type: "compact" })
        yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(
          seen.map(({ lastAgentMessage }) => lastAgentMessage),
          ["yes"],
        )
      }).pipe(
        Effect.scoped,
        Effect.provide(
          managed(
            (turn) => seen.push(turn),
            ({ input }) => {
              const said = JSON.stringify(input.at(-1))
              if (said.includes("fails")) return Stream.fail(modelError({ retryable: false }))
              return said.includes("hangs") ? Stream.never : Stream.fromIterable(answer("yes"))
            },
          ),
        ),
      )
    },
  )

  it.effect("L13 an observer that throws harms neither the turn nor the conversation", () => {
    let calls = 0
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "first")
      yield* speak(conversation, "second")
      assert.strictEqual(calls, 2)
    }).pipe(
      Effect.provide(
        managed(() => {
          calls++
          throw new Error("observer")
        }, answer("yes")),
      ),
    )
  })

  it.effect("is called without a look at the events for an observer that needs no message", () =>
    Effect.gen(function* () {
      const said = (seq: number, message: string): Event => ({
        seq,
        id: String(seq),
        msg: { type: "user_message", message },
      })
      const log = [said(0, "first"), said(1, "second")]
      let looks = 0
      const watched = new Proxy(log, {
        get: (events, key) => {
          if (key !== "length") looks++
          return Reflect.get(events, key)
        },
      })
      const completion = { turnId: "1", cwd: "/here", lastAgentMessage: null }
      const seen: Array<CompletedTurn> = []
      const observe = (turn: CompletedTurn) => void seen.push(turn)
      const id = ConversationId.make("01a205be-6d44-7679-bef1-96f5ec412ffb")
      yield* notifyCompleted(observe, id, completion, watched)
      assert.strictEqual(looks, 0)
      log.push(said(2, "of a later turn"))
      assert.deepStrictEqual(seen[0]?.inputMessages, ["first", "second"])
    }),
  )
})
