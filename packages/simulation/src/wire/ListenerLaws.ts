/** L4 and L5 over the listeners that the clients of a wire run added. Pure. */
import { type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import { AddConversationListener } from "@colloquy/protocol/app/Messages"
import {
  ConversationClosed,
  ConversationLagged,
  ConversationSkipped,
  ConversationSynced,
} from "@colloquy/protocol/app/Events"
import { type ConnectionHistory, isResponse, type WireMessage } from "./WireHistory.ts"

const eventPrefix = "codex/event/"

/** Everything that a client received for one of its listeners. */
interface Listening {
  readonly id: string
  /** The last number the client knew; absent for a client of the original product. */
  readonly after: number | undefined
  readonly conversation: string | undefined
  readonly messages: ReadonlyArray<WireMessage>
}

const listeningsOf = ({ received, sent }: ConnectionHistory): ReadonlyArray<Listening> =>
  received.flatMap((answer) => {
    const id = answer.result?.subscriptionId
    if (!isResponse(answer) || id === undefined) return []
    const request = sent.find((message) => message.id === answer.id)
    if (request?.method !== AddConversationListener._tag) return []
    const { after, conversationId } = request.params ?? {}
    const messages = received.filter(({ params }) => params?.subscriptionId === id)
    return [{ id, after, conversation: conversationId, messages }]
  })

const isDurableEvent = ({ method, params }: WireMessage): boolean =>
  method?.startsWith(eventPrefix) === true && !isEphemeral(params?.msg as EventMsg)

/** L4: a listener gets every number once and in order from the first; a client that sees n and then n + 2 has lost an event. */
export const numberedWithoutGap = (connection: ConnectionHistory): ReadonlyArray<string> =>
  listeningsOf(connection).flatMap(({ after, id, messages }) => {
    if (after === undefined) {
      return messages.some(({ params }) => params?.seq !== undefined)
        ? [`listener ${id} gets numbers that it did not request`]
        : []
    }
    let next = after + 1
    return messages.flatMap((message) => {
      const { method, params } = message
      const isNumber = isDurableEvent(message) || method === ConversationSkipped._tag
      const isMarker = method === ConversationSynced._tag || method === ConversationLagged._tag
      if (!isNumber && !isMarker) return []
      const number = method === ConversationLagged._tag ? params?.from : params?.seq
      const expected = next
      if (isNumber) next++
      return number === expected
        ? []
        : [`listener ${id}: ${method} of ${String(number)} where ${expected} is next`]
    })
  })

const turnOf = ({ params }: WireMessage): string => params?.id ?? ""

/** L5: a listener that got the start of a turn gets its end, or the reason why its conversation can no longer be recorded. */
export const endsWithReason = (connection: ConnectionHistory): ReadonlyArray<string> => {
  const { endedMs = 0, failures, whole } = connection
  if (!whole) return []
  return listeningsOf(connection).flatMap(({ conversation, id, messages }) => {
    const failure = failures.find((one) => one.conversation === conversation && one.ms < endedMs)
    if (failure === undefined) return []
    const before = messages.filter(({ at }) => at < failure.at)
    const started = before.findLast(({ method }) => method === `${eventPrefix}task_started`)
    if (started === undefined) return []
    const isEnd = ({ method, params }: WireMessage) =>
      (method === ConversationClosed._tag && params?.reason !== undefined) ||
      (/task_complete|turn_aborted/.test(method ?? "") && params?.id === turnOf(started))
    return messages.some((message) => message.at > started.at && isEnd(message))
      ? []
      : [`listener ${id}: turn ${turnOf(started)} started and neither its end nor a reason follows`]
  })
}
