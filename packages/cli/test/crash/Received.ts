/**
 * Records what a client has received and may rely on from then on (L10), and compares it with the files that exist
 * later.
 */
import type { Frame } from "../support/Server.ts"
import type { Judged, Msg, StoredEvent } from "./Judged.ts"

const deltas = new Set([
  "agent_message_delta",
  "agent_reasoning_delta",
  "agent_reasoning_raw_content_delta",
  "exec_command_output_delta",
])

/** Key that distinguishes an event from the others of its turn. It omits members that exist only on the wire. */
const keyOf = (id: string, msg: Msg): string =>
  JSON.stringify([id, msg.type, msg["call_id"], msg["message"], msg["last_agent_message"]])

/** One conversation, as its client knows it. */
export interface ReceivedConversation {
  /** First characters of the messages whose acceptance the client has seen. */
  readonly inputs: Set<string>
  /** Keys of the events that each call received, in order of arrival. */
  readonly seen: Map<string, Array<string>>
  /** The file's whole lines after the last exit of a process; at most one buffer. */
  readonly lines: Array<Buffer>
}

export interface Received {
  readonly conversations: ReadonlyMap<string, ReceivedConversation>
  /** Conversations about which the client received something since they were last compared with their files. */
  readonly open: Set<string>
  readonly of: (id: string) => ReceivedConversation
  /** Records the event in this message. @param call name of the call, unique within the state directory */
  readonly event: (frame: Frame, call: string) => void
}

export const make = (): Received => {
  const conversations = new Map<string, ReceivedConversation>()
  const open = new Set<string>()
  const of = (id: string): ReceivedConversation => {
    open.add(id)
    const known = conversations.get(id) ?? { inputs: new Set(), seen: new Map(), lines: [] }
    conversations.set(id, known)
    return known
  }
  return {
    conversations,
    open,
    of,
    event: ({ params }, call) => {
      const threadId = params?._meta?.threadId
      const msg = params?.msg
      if (threadId === undefined || msg === undefined || deltas.has(msg.type)) return
      const { seen } = of(threadId)
      const events = seen.get(call) ?? []
      seen.set(call, events)
      events.push(keyOf(params?.id ?? "", msg))
    },
  }
}

/** The first event that a call received and the log does not contain in the same order, if any. */
const missing = (
  seen: ReadonlyArray<string>,
  events: ReadonlyArray<StoredEvent>,
): string | undefined => {
  let at = 0
  for (const key of seen) {
    const found = events.findIndex((event, n) => n >= at && keyOf(event.id, event.msg) === key)
    if (found === -1) return key
    at = found + 1
  }
  return undefined
}

const timesRecorded = (events: ReadonlyArray<StoredEvent>, input: string): number =>
  events.filter(
    ({ msg }) => msg.type === "user_message" && String(msg["message"]).startsWith(input),
  ).length

/** Where the file contradicts what the client received; empty when it does not. @param bytes of the file */
export const contradictions = (
  { inputs, lines, seen }: ReceivedConversation,
  { events }: Judged,
  bytes: Buffer,
): ReadonlyArray<string> => [
  ...[...inputs].flatMap((input) => {
    const times = timesRecorded(events, input)
    return times === 1 ? [] : [`accepted input ${JSON.stringify(input)} occurs ${times} times`]
  }),
  ...[...seen].flatMap(([call, keys]) => {
    const lost = missing(keys, events)
    return lost === undefined
      ? []
      : [`an event that call ${call} received is missing: ${lost.slice(0, 300)}`]
  }),
  ...lines.flatMap((before) =>
    bytes.subarray(0, before.length).equals(before)
      ? []
      : [`the first ${before.length} bytes have changed`],
  ),
]
