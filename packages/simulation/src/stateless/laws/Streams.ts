/** L2 and L4: what is sent on the stream of a request, and in which order: events and the response, a subscription and its end. Pure. */
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import { ResourceUpdated, ToolsListChanged } from "@colloquy/protocol/mcp/Resources"
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import {
  SubscriptionsAcknowledged,
  SubscriptionsListen,
} from "@colloquy/protocol/mcp/Subscriptions"
import { TasksChanged } from "@colloquy/protocol/mcp/Tasks"
import { eventsOf, isResponse, type WireMessage } from "../../wire/WireHistory.ts"
import { at } from "../StatelessKnown.ts"
import {
  answerTo,
  type Connection,
  resultType,
  type StatelessHistory,
} from "../StatelessHistory.ts"
import { cancelsOf } from "./Cancellations.ts"

const isTerminal = (event: WireMessage) =>
  ["task_complete", "turn_aborted"].includes(String(at(event, "params", "msg", "type")))

/** L2: the result of a turn follows its terminal event, and no event of a call follows its response. */
export const responseIsLast = ({ calls }: StatelessHistory): ReadonlyArray<string> =>
  calls.flatMap(({ answer, asked, connection }) => {
    const id = String(asked.id)
    const events = eventsOf(connection, asked.id)
    const late = answer === undefined ? [] : events.filter((event) => event.at > answer.at)
    const started = events.some((event) => at(event, "params", "msg", "type") === "task_started")
    const early =
      started && resultType(answer) === "complete" && !events.some((event) => isTerminal(event))
    return [
      ...late.map((event) => `${event.text} follows the response of ${id}`),
      ...(early ? [`the result of ${id} comes before the end of its turn`] : []),
    ]
  })

/** L2: events are sent only on the stream of a request that requested them. */
export const eventsOnlyWhereRequested = ({
  connections,
}: StatelessHistory): ReadonlyArray<string> =>
  connections.flatMap(({ received, sent }) =>
    received.flatMap((message) => {
      if (message.method !== CodexEvent._tag) return []
      const of = sent.find(({ id }) => id === at(message, "params", "_meta", "requestId"))
      const asked = at(of, "params", "_meta", MetaKey.clientCapabilities, "experimental")
      return asked === undefined ? [`${message.text} was not requested`] : []
    }),
  )

interface Listening {
  readonly connection: Connection
  readonly asked: WireMessage
  /** The notifications with its id, in order; not its response. */
  readonly notifications: ReadonlyArray<WireMessage>
  readonly answer: WireMessage | undefined
}

const listeningOf = ({ connections }: StatelessHistory): ReadonlyArray<Listening> =>
  connections.flatMap((connection) =>
    connection.sent
      .filter(({ method }) => method === SubscriptionsListen._tag)
      .map((asked) => ({
        connection,
        asked,
        notifications: connection.received.filter(
          (one) =>
            !isResponse(one) && at(one, "params", "_meta", MetaKey.subscriptionId) === asked.id,
        ),
        answer: answerTo(connection, asked),
      })),
  )

const kinds = {
  [ToolsListChanged._tag]: "toolsListChanged",
  [ResourceUpdated._tag]: "resourceSubscriptions",
  [TasksChanged._tag]: "taskIds",
} as const

/** L2: a subscription starts with its acknowledgement, sends only the requested kinds, and ends with its response. */
export const subscriptionsHold = (history: StatelessHistory): ReadonlyArray<string> =>
  listeningOf(history).flatMap(({ answer, asked, notifications }) => {
    const id = String(asked.id)
    const [first, ...rest] = notifications
    return [
      ...(first !== undefined && first.method !== SubscriptionsAcknowledged._tag
        ? [`subscription ${id} starts with ${first.text}`]
        : []),
      ...(answer !== undefined && answer.error === undefined && first === undefined
        ? [`subscription ${id} ends without having started`]
        : []),
      ...rest.flatMap((one) => {
        const member = Object.entries(kinds).find(([method]) => method === one.method)?.[1] ?? ""
        const wanted = at(asked, "params", "notifications", member) !== undefined
        return wanted ? [] : [`subscription ${id} sends ${one.text}`]
      }),
      ...notifications.flatMap((one) =>
        answer !== undefined && one.at > answer.at ? [`${one.text} after the end of ${id}`] : [],
      ),
    ]
  })

/** Time in milliseconds within which changes are combined into one notification. */
const windowMs = 100

/** L4: every change that a subscription requested is sent eventually. */
export const changesAreDelivered = (history: StatelessHistory): ReadonlyArray<string> =>
  listeningOf(history).flatMap((listening) => {
    const { asked, connection, notifications } = listening
    const { endedMs = 0, plan, whole } = connection
    const acknowledged = notifications[0]?.at ?? Infinity
    if (!whole || plan.reading.how !== "fast" || cancelsOf(connection, asked.id).length > 0)
      return []
    if (notifications[0] === undefined || answerTo(connection, asked) === undefined) return []
    return history.run.trace.flatMap((entry, place) => {
      if (entry.at !== "changed" || place < acknowledged || entry.ms + windowMs >= endedMs)
        return []
      const wanted = entry.what === "tools" ? "toolsListChanged" : "resourceSubscriptions"
      if (at(asked, "params", "notifications", wanted) === undefined) return []
      const method = Object.entries(kinds).find(([, member]) => member === wanted)?.[0]
      return notifications.some((one) => one.method === method && one.at > place)
        ? []
        : [`subscription ${String(asked.id)} gets no notification of changed ${entry.what}`]
    })
  })
