import type { Conversation } from "@colloquy/core/Conversation"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Event } from "@colloquy/protocol/EventMsg"
import { ConversationsView } from "@colloquy/server/ConversationsView"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { plain } from "../../src/demo/Style.ts"
import { ChatSession, type SessionParts } from "../../src/terminal/chat/ChatSession.ts"
import type { Input } from "../../src/terminal/chat/Input.ts"
import type { Key } from "../../src/terminal/chat/line/Editor.ts"

const ctrlC: Key = { name: "c", ctrl: true, sequence: "\u0003" }

const delivered = (msg: Event["msg"], seq: number): Delivery =>
  ({ _tag: "Event", event: { id: "turn", seq, msg } }) as Delivery

/** A running turn whose lines are delivered all at once. */
const manyLines = (count: number): ReadonlyArray<Delivery> => [
  delivered({ type: "task_started" } as Event["msg"], 0),
  { _tag: "Synced" } as Delivery,
  ...Array.from({ length: count }, (_, n) =>
    delivered({ type: "agent_message_delta", delta: `line ${n}\n` }, n + 1),
  ),
]

/** The same in one delivery, as a chat gets it that could not follow. */
const oneText = (count: number): ReadonlyArray<Delivery> => {
  const delta = Array.from({ length: count }, (_, n) => `line ${n}\n`).join("")
  return [...manyLines(0), delivered({ type: "agent_message_delta", delta }, 1)]
}

describe("ChatSession", () => {
  it.effect.each([
    ["in many deliveries", manyLines],
    ["in one", oneText],
  ] as const)(
    "handles keys before the rest of what came at once %s, and then shows the rest",
    ([, lines]) =>
      Effect.gen(function* () {
        const count = 5_000
        const queue = yield* Queue.bounded<Input>(64)
        let written = ""
        let isFirst = true
        /** What was written when the turn was interrupted, for each time. */
        const interrupted: Array<string> = []
        const batches = [lines(count)]
        const conversation = {
          id: "conversation",
          attach: () =>
            Effect.succeed({
              take: Effect.suspend(() => {
                const batch = batches.shift()
                return batch === undefined ? Effect.never : Effect.succeed(batch)
              }),
            }),
          cancel: (id: string) =>
            Effect.sync(() => {
              assert.strictEqual(id, "turn")
              interrupted.push(written)
            }),
        } as unknown as Conversation
        const terminal = {
          size: () => ({ columns: 80, rows: 24 }),
          write: (text: string) => {
            written += text
            if (isFirst && text.includes("line 0")) {
              isFirst = false
              Queue.offerUnsafe(queue, { _tag: "Keys", keys: [ctrlC] })
            }
            if (text.includes(`line ${count - 1}`)) {
              Queue.offerUnsafe(queue, { _tag: "Stop", code: 7 })
            }
          },
          suspend: Effect.void,
          resume: () => {},
        }
        const parts: SessionParts = {
          conversations: yield* ConversationsView,
          history: { older: Effect.undefined, append: () => Effect.void },
          conversation,
          terminal,
          queue,
          style: plain,
        }
        const chat = new ChatSession(parts, yield* FiberHandle.make())
        assert.strictEqual(yield* chat.run(undefined), 7)
        assert.lengthOf(interrupted, 1)
        assert.include(interrupted[0], "line 0")
        assert.notInclude(interrupted[0], `line ${count / 2}`)
        const shown = written.match(/ line \d+\r/gu) ?? []
        assert.strictEqual(new Set(shown).size, count)
      }).pipe(Effect.scoped, Effect.provide(Layer.mock(ConversationsView)({}))),
  )
})
