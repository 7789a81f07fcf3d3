/** Notifications of a running handler, in every era: progress with the token of its request, and log messages. */
import { Progress, ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { LoggingLevel, LogMessage } from "@colloquy/protocol/mcp/Logging"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import { once } from "@colloquy/protocol/Once"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PeerControl, RequestCaller } from "../../jsonrpc/Caller.ts"
import type { Members, RequestContext } from "../RequestContext.ts"

/** Compiled at the first progress, so that the start of the server does not wait for it. */
const tokenCheck = once(() => Schema.is(ProgressToken))

const isToken = (u: unknown): u is ProgressToken => u !== undefined && tokenCheck()(u)

/** The peer of a request that may report progress: its response is written separately from the last progress. */
export const reporting = (
  { separate }: Pick<RequestCaller, "separate">,
  peer: PeerControl,
  meta: Members,
): PeerControl =>
  memberOf(meta, "progressToken") === undefined
    ? peer
    : {
        ...peer,
        notify: (method, params) => {
          if (method._tag === Progress._tag) separate()
          return peer.notify(method, params)
        },
      }

/** Sends progress. A value that does not increase is dropped, because the protocol forbids it. */
export const progressTo = (peer: PeerControl, meta: Members): RequestContext["progress"] => {
  let last = Number.NEGATIVE_INFINITY
  return (progress, total, message) => {
    const token = memberOf(meta, "progressToken")
    // Not every method decodes the token with its params; an invalid one means that no progress is wanted.
    if (!isToken(token) || !(progress > last)) return Effect.void
    last = progress
    return peer.notify(Progress, [
      {
        progressToken: token,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      },
    ])
  }
}

/**
 * Sends log messages.
 *
 * @param least least severe level that the client wants; undefined when it wants no messages
 */
export const logTo =
  (peer: PeerControl, least: () => LoggingLevel | undefined): RequestContext["log"] =>
  (level, data, logger) => {
    const from = least()
    const { literals } = LoggingLevel
    if (from === undefined || literals.indexOf(level) < literals.indexOf(from)) return Effect.void
    return peer.notify(LogMessage, [{ level, ...(logger === undefined ? {} : { logger }), data }])
  }
