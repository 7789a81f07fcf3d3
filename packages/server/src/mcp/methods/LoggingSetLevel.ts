/** `logging/setLevel`: the least severe messages that this connection wants from now on. */
import type { LoggingSetLevel as LoggingSetLevelMethod } from "@colloquy/protocol/mcp/Logging"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import type { Session } from "../Session.ts"

type Method = typeof LoggingSetLevelMethod

export const loggingSetLevel =
  (session: Session): CoreHandler<Params<Method>, object> =>
  ({ level }) =>
    Effect.sync(() => {
      session.logLevel = level
      return {}
    })
