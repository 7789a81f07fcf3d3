/** Cursors of lists, as clients send them back. An input is a cursor; the corpus is one that was issued. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import { encode } from "../Bytes.ts"
import { type Edge, Violation } from "../Edge.ts"
import { textOf } from "./Pure.ts"
import { rolloutCorpus } from "./RolloutCorpus.ts"
import { storeOf } from "./Rollouts.ts"

/** The cursor of 2025-09-20T08:11:12.345Z and a conversation of that time. */
const corpus = [encode("YzI6MTc1ODM1NTg3MjM0NTowMTk5NjY1Ny03YTU5LTcwMDEtODAwMi0wMDAwMDAwMDAwMDE")]

const model = Layer.succeed(ModelClient, {
  stream: () => Stream.succeed({ _tag: "Completed" } as const),
})

/** A store with one conversation. */
const store = storeOf(rolloutCorpus[0] ?? new Uint8Array())

const open = Effect.gen(function* () {
  const services = yield* Layer.build(
    Conversations.layerWith({}).pipe(
      Layer.provide([IdGenerator.layer, scriptedResolver(), model, ToolRuntime.layerNone, store]),
    ),
  )
  const manager = Context.get(services, ConversationManager)
  const run = (input: Uint8Array) => {
    const cursor = textOf(input)
    return manager.list({ cursor }).pipe(
      Effect.flatMap(({ items }) =>
        items.every((item) => typeof item.id === "string")
          ? Effect.succeed("accepted" as const)
          : Effect.fail(
              new Violation({ law: "L13", message: "lists an item that is not a conversation" }),
            ),
      ),
      Effect.catchTags({
        BadCursor: () => Effect.succeed("rejected" as const),
        BadPageLimit: ({ message }) => Effect.fail(new Violation({ law: "L13", message })),
        StoreError: ({ message }) => Effect.fail(new Violation({ law: "L13", message })),
      }),
    )
  }
  return { run, keepsWork: true }
})

/** Cursors of the list of conversations. */
export const listCursors: Edge = {
  name: "list-cursor",
  summary: "The cursor of a list of conversations (core/ConversationManager).",
  corpus,
  maxInputBytes: 1024,
  open,
}
