/** L4 and L5 over the listeners that clients of a wire run added. Pure. */
import { type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import { AddConversationListener } from "@colloquy/protocol/app/Messages"
import {
  ConversationClosed,
  ConversationLagged,
  ConversationSkipped,
  ConversationSynced,
} from "@colloquy/protocol/app/Events"
import { type ConnectionStory, isResponse, type WireMessage } from "./WireHistory.ts"

const eventPrefix = "codex/event/"

/** Everything that a client was sent for one of its listeners. */
interface Listening {
  readonly id: string
  /** Absent for a client of the original's. */
  readonly after: number | undefined
  readonly conversation: string | undefined
  readonly sent: ReadonlyArray<WireMessage>
}

const listeningsOf = ({ heard, said }: ConnectionStory): ReadonlyArray<Listening> =>
  heard.flatMap((answer) => {
    const id = answer.result?.subscriptionId
    if (!isResponse(answer) || id === undefined) return []
    const request = said.find((message) => message.id === answer.id)
    if (request?.method !== AddConversationListener._tag) return []
    const { after, conversationId } = request.params ?? {}
    const sent = heard.filter(({ params }) => params?.subscriptionId === id)
    return [{ id, after, conversation: conversationId, sent }]
  })

const isKeptEvent = ({ method, params }: WireMessage): boolean =>
  method?.startsWith(eventPrefix) === true && !isEphemeral(params?.msg as EventMsg)

/** L4: every number once and in order from the first on; a client that sees n and then n + 2 has lost something. */
export const numberedWithoutGap = (connection: ConnectionStory): ReadonlyArray<string> =>
  listeningsOf(connection).flatMap(({ after, id, sent }) => {
    if (after === undefined) {
      return sent.some(({ params }) => params?.seq !== undefined)
        ? [`listener ${id} is sent numbers that it did not ask for`]
        : []
    }
    let next = after + 1
    return sent.flatMap((message) => {
      const { method, params } = message
      const isNumber = isKeptEvent(message) || method === ConversationSkipped._tag
      const isMark = method === ConversationSynced._tag || method === ConversationLagged._tag
      if (!isNumber && !isMark) return []
      const number = method === ConversationLagged._tag ? params?.from : params?.seq
      const expected = next
      if (isNumber) next++
      return number === expected
        ? []
        : [`listener ${id}: ${method} of ${String(number)} where ${expected} is next`]
    })
  })

const turnOf = ({ params }: WireMessage): string => params?.id ?? ""

/** L5: a listener that was sent a turn's beginning is sent its end, or why nothing can be recorded any more. */
export const endsOrSaysWhy = (connection: ConnectionStory): ReadonlyArray<string> => {
  const { endedMs = 0, failures, whole } = connection
  if (!whole) return []
  return listeningsOf(connection).flatMap(({ conversation, id, sent }) => {
    const failure = failures.find((one) => one.conversation === conversation && one.ms < endedMs)
    if (failure === undefined) return []
    const before = sent.filter(({ at }) => at < failure.at)
    const begun = before.findLast(({ method }) => method === `${eventPrefix}task_started`)
    if (begun === undefined) return []
    const isEnd = ({ method, params }: WireMessage) =>
      (method === ConversationClosed._tag && params?.reason !== undefined) ||
      (/task_complete|turn_aborted/.test(method ?? "") && params?.id === turnOf(begun))
    return sent.some((message) => message.at > begun.at && isEnd(message))
      ? []
      : [`listener ${id}: turn ${turnOf(begun)} has begun and nothing follows`]
  })
}
