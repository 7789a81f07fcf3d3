import { StoreError } from "@colloquy/core/StoreErrors"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { ConversationsView } from "../src/ConversationsView.ts"
import { removeOnFailure } from "../src/RemoveOnFailure.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

describe("removeOnFailure", () => {
  it.effect(
    "L3 a conversation that cannot be removed is logged, and the request fails as it did",
    () =>
      Effect.gen(function* () {
        const warnings: Array<string> = []
        const logger = Logger.make(({ logLevel, message }) => {
          warnings.push(`${logLevel} ${String(message)}`)
        })
        const full = new StoreError({
          operation: "delete",
          reason: "Full",
          message: "the disk is full",
        })
        const failure = yield* removeOnFailure(id)(Effect.fail("refused")).pipe(
          Effect.flip,
          Effect.provide([
            Layer.mock(ConversationsView)({ remove: () => Effect.fail(full) }),
            Logger.layer([logger]),
          ]),
        )
        assert.strictEqual(failure, "refused")
        assert.deepStrictEqual(warnings, [
          `Warn could not remove conversation ${id}, whose creation has failed: the disk is full`,
        ])
      }),
  )
})
