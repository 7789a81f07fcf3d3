/** `account/rateLimits/read`: the rate limits that the provider reported last, to any thread with a listener. */
import type { AccountRateLimitsRead } from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import { cannotReadLogin, invalid } from "../../../app/AppErrors.ts"
import { Auth } from "../../../app/ports/AuthPort.ts"
import type { HostHandler } from "../HostCall.ts"
import { rateLimitsOf } from "../RateLimits.ts"

/** Handler of the method. */
export const accountRateLimitsRead: HostHandler<typeof AccountRateLimitsRead> = Effect.fnUntraced(
  function* (_, { connection }) {
    const auth = yield* Auth
    const { method } = yield* Effect.mapError(auth.status({ refresh: false }), cannotReadLogin)
    if (method === undefined) {
      return yield* invalid("codex account authentication required to read rate limits")
    }
    const rateLimits = rateLimitsOf(connection.cursor.rateLimits())
    return { rateLimits, rateLimitsByLimitId: { codex: rateLimits } }
  },
)
