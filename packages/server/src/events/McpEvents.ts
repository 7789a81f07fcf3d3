/**
 * From the core's events to `codex/event` notifications and to the events in the results of MCP tools. Which events MCP
 * clients receive follows from the `audience` of their definitions. Pure. The wire: packages/docs/wire/codex-mcp.md.
 */
import { type Event, eventInfo, type EventMsg } from "@colloquy/protocol/EventMsg"
import type { Audience } from "@colloquy/protocol/EventDefinition"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import type { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"

/**
 * The audiences that MCP clients belong to. What is for the log, for clients that ask for raw items, or unknown to the
 * original is not sent live: clients of the original may reject an unknown event type.
 */
const audiences: ReadonlySet<Audience> = new Set<Audience>(["original", "codex-mcp"])

const isSent = ({ type }: EventMsg): boolean => audiences.has(eventInfo(type).audience)

/**
 * Versions up to 0.29 read the token usage of the last response from the event itself, later ones from its `info`; the
 * event carries both. (packages/server/test/fixtures/v0.29.0/simple.jsonl)
 */
export const withFlatUsage = (msg: EventMsg): EventMsg =>
  msg.type === "token_count" && msg.info !== null ? { ...msg, ...msg.info.last_token_usage } : msg

/** The message as MCP clients receive it; undefined for an event that they do not receive. */
export const wireMsg = (msg: EventMsg): EventMsg | undefined =>
  isSent(msg) ? withFlatUsage(msg) : undefined

/** The parameters of the `codex/event` notification; undefined for an event that MCP clients do not receive. */
export const wireEvent = (
  { id, msg }: Event,
  call: { readonly requestId: RequestId; readonly threadId: string },
): Params<typeof CodexEvent> | undefined => {
  const sent = wireMsg(msg)
  return sent === undefined
    ? undefined
    : { _meta: { requestId: call.requestId, threadId: call.threadId }, id, msg: sent }
}
