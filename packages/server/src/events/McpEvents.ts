/** From the core's events to `codex/event` (§1.8). Pure. */
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import type { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"

/** Records for the log and for clients that ask for raw items; this dialect never carried them live (§4.6). */
const isHidden = ({ type }: EventMsg) =>
  type === "raw_response_item" ||
  type === "user_message" ||
  // Not in the original: its clients know no such event, and a strict one would choke on it.
  type === "approval_resolved" ||
  type === "compacted"

/** Generations up to 0.29 read the usage of the last response flat in the event (recording 0.29 `simple`). */
export const withFlatUsage = (msg: EventMsg): EventMsg =>
  msg.type === "token_count" && msg.info !== null ? { ...msg, ...msg.info.last_token_usage } : msg

/** What a client is told of it; undefined for what it is not told. */
export const wireMsg = (msg: EventMsg): EventMsg | undefined =>
  isHidden(msg) ? undefined : withFlatUsage(msg)

export const wireEvent = (
  { id, msg }: Event,
  call: { readonly requestId: RequestId; readonly threadId: string },
): Params<typeof CodexEvent> | undefined =>
  isHidden(msg)
    ? undefined
    : {
        _meta: { requestId: call.requestId, threadId: call.threadId },
        id,
        msg: withFlatUsage(msg),
      }
