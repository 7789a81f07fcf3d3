/** `initialize` (§3.1). */
import type { Initialize } from "@colloquy/protocol/app/Session"
import * as Effect from "effect/Effect"
import type { AppHandler } from "./AppCall.ts"
import { alreadyInitialized } from "./AppErrors.ts"

export const initialize: AppHandler<typeof Initialize> = (params, { connection }) =>
  Effect.suspend(() =>
    connection.initialize(params)
      ? Effect.succeed(connection.userAgent())
      : Effect.fail(alreadyInitialized()),
  )
