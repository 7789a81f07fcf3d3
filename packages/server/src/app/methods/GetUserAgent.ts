/** `getUserAgent`: the user agent of the server, with the name of the client. */
import type { GetUserAgent } from "@colloquy/protocol/app/Session"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"

/** Handler of the method. */
export const getUserAgent: AppHandler<typeof GetUserAgent> = (_, { connection }) =>
  Effect.sync(() => connection.userAgent())
