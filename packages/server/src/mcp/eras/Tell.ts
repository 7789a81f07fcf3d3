/** What a handler tells on its way, in every era: progress under the token of its request, and lines of the log. */
import { Progress, ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { LoggingLevel, LogMessage } from "@colloquy/protocol/mcp/Logging"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PeerControl, RequestCaller } from "../../jsonrpc/Caller.ts"
import type { Members, RequestContext } from "../RequestContext.ts"

let is: ((u: unknown) => u is ProgressToken) | undefined

/** Read when there is progress to tell: a start does not wait for it. */
const isToken = (u: unknown): u is ProgressToken =>
  u !== undefined && (is ??= Schema.is(ProgressToken))(u)

/** The peer of a request that may report progress: the response is written apart from it. */
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

/** What does not rise is not told: the protocol forbids it. */
export const progressTo = (peer: PeerControl, meta: Members): RequestContext["progress"] => {
  let last = Number.NEGATIVE_INFINITY
  return (progress, total, message) => {
    const token = memberOf(meta, "progressToken")
    // Not every method reads it with its params: what is no token asks for nothing.
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

/** @param least the least severe level that the client wants; undefined: it wants none */
export const logTo =
  (peer: PeerControl, least: () => LoggingLevel | undefined): RequestContext["log"] =>
  (level, data, logger) => {
    const from = least()
    const { literals } = LoggingLevel
    if (from === undefined || literals.indexOf(level) < literals.indexOf(from)) return Effect.void
    return peer.notify(LogMessage, [{ level, ...(logger === undefined ? {} : { logger }), data }])
  }
