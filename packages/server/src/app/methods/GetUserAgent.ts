/** `getUserAgent` (§3.2). */
import type { GetUserAgent } from "@colloquy/protocol/app/Session"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"

export const getUserAgent: AppHandler<typeof GetUserAgent> = (_, { connection }) =>
  Effect.sync(() => connection.userAgent())
