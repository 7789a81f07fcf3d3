/** `initialize` (§3.1). */
import type { Initialize } from "@colloquy/protocol/app/Session"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { alreadyInitialized } from "../AppErrors.ts"
import { answerFirst } from "../subscriptions/TellAfter.ts"

export const initialize: AppHandler<typeof Initialize> = Effect.fnUntraced(
  function* (params, call) {
    const { connection, peer } = call
    if (!connection.initialize(params)) return yield* alreadyInitialized()
    answerFirst(call)
    yield* connection.join(peer)
    return connection.userAgent()
  },
)
