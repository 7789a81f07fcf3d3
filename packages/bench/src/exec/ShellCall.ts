/** A turn with one command: requested by the model, decided, confined, run, delivered, returned to the model. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { say } from "../core/Setting.ts"
import { timeOf } from "./Patch.ts"
import { type TimedEvent, withMachine } from "./Setting.ts"

/** Sizes of the measurement. */
export interface ShellCallSizes {
  /** Turns that are not counted. */
  readonly warmUps: number
  readonly turns: number
}

/** The result. */
export interface ShellCallFigure {
  /** Milliseconds from the submission to the end of the turn. */
  readonly turnMs: ReadonlyArray<number>
  /** Milliseconds from `exec_command_begin` to `exec_command_end`. */
  readonly commandMs: ReadonlyArray<number>
}

const call: ModelEvent = {
  _tag: "ItemDone",
  item: {
    type: "function_call",
    name: "shell",
    arguments: JSON.stringify({ command: ["bash", "-c", "true"] }),
    call_id: "call",
  },
}

const answer: ModelEvent = {
  _tag: "ItemDone",
  item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
}

/** A model that calls the shell in the first response of every turn. */
const model = Layer.sync(ModelClient, () => {
  let requests = 0
  return {
    stream: () =>
      Stream.fromIterable<ModelEvent>([
        requests++ % 2 === 0 ? call : answer,
        { _tag: "Completed" },
      ]),
  }
})

const eventsOfTurn = Effect.fnUntraced(function* (listener: Listener) {
  const events: Array<TimedEvent> = []
  while (true) {
    for (const delivery of yield* Effect.orDie(listener.take)) {
      if (delivery._tag !== "Event") continue
      const { msg } = delivery.event
      events.push({ atMs: performance.now(), msg })
      if (isTerminal(msg)) return events
    }
  }
})

/** Measures whole turns. */
export const shellCall = ({ turns, warmUps }: ShellCallSizes): Effect.Effect<ShellCallFigure> =>
  withMachine(({ settings }) =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      const listener = yield* conversation.attach()
      const turnMs: Array<number> = []
      const commandMs: Array<number> = []
      for (let turn = -warmUps; turn < turns; turn++) {
        const startedAtMs = performance.now()
        yield* say(conversation)
        const events = yield* eventsOfTurn(listener)
        if (turn < 0) continue
        turnMs.push(performance.now() - startedAtMs)
        commandMs.push(timeOf(events, "exec_command_end") - timeOf(events, "exec_command_begin"))
      }
      return { turnMs, commandMs }
    }).pipe(
      Effect.provide(
        Conversations.layer.pipe(
          Layer.provide([
            model,
            IdGenerator.layer,
            MemoryStore.layer,
            scriptedResolver(),
            Layer.effect(ToolRuntime, ToolRuntime),
          ]),
        ),
      ),
    ),
  )
