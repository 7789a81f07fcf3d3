/** `account/rateLimits/read`: the rate limits that the last `token_count` of any conversation with a listener reported. */
import type { AccountRateLimitsRead } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"

/** The result before any were reported (packages/server/test/fixtures/v0.45/app-conv_basic.jsonl). */
const unknown = { primary: null, secondary: null }

/** Handler of the method. */
export const accountRateLimitsRead: AppHandler<typeof AccountRateLimitsRead> = (
  _,
  { connection },
) => Effect.sync(() => ({ rateLimits: connection.cursor.rateLimits() ?? unknown }))
