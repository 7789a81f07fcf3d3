/** `account/rateLimits/read` (§3.2): what the last `token_count` of a conversation that is listened to said of them. */
import type { AccountRateLimitsRead } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"

/** Nothing is known (recording 0.45 `conv_basic`). */
const unknown = { primary: null, secondary: null }

export const accountRateLimitsRead: AppHandler<typeof AccountRateLimitsRead> = (
  _,
  { connection },
) => Effect.sync(() => ({ rateLimits: connection.heard.rateLimits() ?? unknown }))
