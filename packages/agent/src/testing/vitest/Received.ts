/** What the matchers read of a value: an agent under test, the events of a conversation, or the messages of one turn. Pure. */
import { type Event, type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { EventLog } from "@colloquy/simulation/EventLaws"
import type { EventLogs } from "../EventLogs.ts"
import type { SentRequest } from "../SentRequest.ts"
import { sentOf } from "../SentRequest.ts"
import type { ScriptedModel } from "../ScriptedModel.ts"

/** The value has none of the forms that the matcher accepts. */
class NotReceivable extends Error {
  override readonly name = "NotReceivable"
}

const hasLogs = (value: object): value is { readonly logs: EventLogs } => "logs" in value

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && "msg" in value && "seq" in value

const isMessage = (value: unknown): value is EventMsg =>
  typeof value === "object" && value !== null && "type" in value

/** The events of each conversation. */
export const logsOf = (received: unknown): ReadonlyArray<EventLog> => {
  if (Array.isArray(received) && received.every(isEvent)) return [received]
  if (typeof received === "object" && received !== null && hasLogs(received)) {
    const { logs } = received
    return logs.conversations.map((id) => logs.of(id))
  }
  throw new NotReceivable(
    "expected an agent of Agent.test, or the events of a conversation with their numbers",
  )
}

/** The messages of all events. */
export const messagesOf = (received: unknown): ReadonlyArray<EventMsg> => {
  if (Array.isArray(received) && !received.every(isEvent) && received.every(isMessage)) {
    return received
  }
  return logsOf(received).flatMap((log) => log.map(({ msg }) => msg))
}

/** The messages of the conversation whose turn was the last to start or to end. */
export const lastMessagesOf = (received: unknown): ReadonlyArray<EventMsg> => {
  if (typeof received !== "object" || received === null || !hasLogs(received)) {
    return messagesOf(received)
  }
  const { logs } = received
  const last = logs.all.findLast(
    ({ event: { msg } }) => msg.type === "task_started" || isTerminal(msg),
  )
  return last === undefined ? [] : logs.of(last.conversationId).map(({ msg }) => msg)
}

/** The requests of the model in short. */
export const requestsOf = (received: unknown): ReadonlyArray<SentRequest> => {
  if (typeof received === "object" && received !== null && "model" in received) {
    const { model } = received as { readonly model: ScriptedModel }
    return model.requests.map(sentOf)
  }
  throw new NotReceivable("expected an agent of Agent.test")
}
