/** `logging/setLevel`: sets the lowest severity of the log messages that this connection receives from now on. */
import type { LoggingSetLevel as LoggingSetLevelMethod } from "@colloquy/protocol/mcp/Logging"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import type { Session } from "../Session.ts"

type Method = typeof LoggingSetLevelMethod

/** The handler of `logging/setLevel` of one connection. */
export const loggingSetLevel =
  (session: Session): CoreHandler<Params<Method>, object> =>
  ({ level }) =>
    Effect.sync(() => {
      session.logLevel = level
      return {}
    })
