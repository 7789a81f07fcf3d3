/**
 * The trace of a request in a session. A session is one connection, which has the headers of the POST that opened it only;
 * so the header `traceparent` of a later POST becomes the member of `_meta` that a client may send in its place. A member
 * that the client sends itself is kept, and params that are no object are left to the server to refuse.
 */
import { type Batch, type Message, requestText } from "@colloquy/protocol/JsonRpc"

type Members = Readonly<Record<string, unknown>>

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const membersOf = (u: unknown): Members | undefined =>
  isMembers(u ?? {}) ? ((u ?? {}) as Members) : undefined

/** The message and its text, with the trace that the headers name. Unchanged unless it is one request. */
export const traced = (
  message: Message | Batch,
  text: string,
  { traceparent }: Readonly<Record<string, string | undefined>>,
): readonly [Message | Batch, string] => {
  if (traceparent === undefined || message._tag !== "Request") return [message, text]
  const params = membersOf(message.params)
  const meta = membersOf(params?.["_meta"])
  if (params === undefined || meta === undefined) return [message, text]
  const sent = { ...params, _meta: { traceparent, ...meta } }
  return [{ ...message, params: sent }, requestText(message.id, message.method, sent)]
}
