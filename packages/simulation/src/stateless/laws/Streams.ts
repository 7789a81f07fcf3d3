/** What comes on the stream of a request, and when: its events and its answer, a subscription and its end. Pure. */
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
import { answerTo, type Connection, resultType, type StatelessStory } from "../StatelessHistory.ts"
import { cancelsOf } from "./Cancellations.ts"

const isTerminal = (event: WireMessage) =>
  ["task_complete", "turn_aborted"].includes(String(at(event, "params", "msg", "type")))

/** L2: the result of a turn follows its end, and nothing of a call follows its answer. */
export const nothingFollows = ({ calls }: StatelessStory): ReadonlyArray<string> =>
  calls.flatMap(({ answer, asked, connection }) => {
    const id = String(asked.id)
    const events = eventsOf(connection, asked.id)
    const late = answer === undefined ? [] : events.filter((event) => event.at > answer.at)
    const began = events.some((event) => at(event, "params", "msg", "type") === "task_started")
    const early =
      began && resultType(answer) === "complete" && !events.some((event) => isTerminal(event))
    return [
      ...late.map((event) => `${event.text} follows the answer of ${id}`),
      ...(early ? [`the result of ${id} comes before the end of its turn`] : []),
    ]
  })

/** L2: events go on the stream of a request that asked for them. */
export const onlyWhereAsked = ({ connections }: StatelessStory): ReadonlyArray<string> =>
  connections.flatMap(({ heard, said }) =>
    heard.flatMap((message) => {
      if (message.method !== CodexEvent._tag) return []
      const of = said.find(({ id }) => id === at(message, "params", "_meta", "requestId"))
      const asked = at(of, "params", "_meta", MetaKey.clientCapabilities, "experimental")
      return asked === undefined ? [`${message.text} was not asked for`] : []
    }),
  )

interface Listening {
  readonly connection: Connection
  readonly asked: WireMessage
  /** What came under its id, in order, without the answer. */
  readonly told: ReadonlyArray<WireMessage>
  readonly answer: WireMessage | undefined
}

const listeningOf = ({ connections }: StatelessStory): ReadonlyArray<Listening> =>
  connections.flatMap((connection) =>
    connection.said
      .filter(({ method }) => method === SubscriptionsListen._tag)
      .map((asked) => ({
        connection,
        asked,
        told: connection.heard.filter(
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

/** L2: a subscription begins with its acknowledgement, tells what was asked for, and ends with its answer. */
export const subscriptionsHold = (story: StatelessStory): ReadonlyArray<string> =>
  listeningOf(story).flatMap(({ answer, asked, told }) => {
    const id = String(asked.id)
    const [first, ...rest] = told
    return [
      ...(first !== undefined && first.method !== SubscriptionsAcknowledged._tag
        ? [`subscription ${id} begins with ${first.text}`]
        : []),
      ...(answer !== undefined && answer.error === undefined && first === undefined
        ? [`subscription ${id} ends and never began`]
        : []),
      ...rest.flatMap((one) => {
        const member = Object.entries(kinds).find(([method]) => method === one.method)?.[1] ?? ""
        const wanted = at(asked, "params", "notifications", member) !== undefined
        return wanted ? [] : [`subscription ${id} tells ${one.text}`]
      }),
      ...told.flatMap((one) =>
        answer !== undefined && one.at > answer.at ? [`${one.text} after the end of ${id}`] : [],
      ),
    ]
  })

/** What a listener waits for together is told together. */
const windowMs = 100

/** L4: what changes under a subscription is told, sooner or later. */
export const changesAreTold = (story: StatelessStory): ReadonlyArray<string> =>
  listeningOf(story).flatMap((listening) => {
    const { asked, connection, told } = listening
    const { endedMs = 0, plan, whole } = connection
    const acknowledged = told[0]?.at ?? Infinity
    if (!whole || plan.reading.how !== "fast" || cancelsOf(connection, asked.id).length > 0)
      return []
    if (told[0] === undefined || answerTo(connection, asked) === undefined) return []
    return story.run.trace.flatMap((entry, place) => {
      if (entry.at !== "changed" || place < acknowledged || entry.ms + windowMs >= endedMs)
        return []
      const wanted = entry.what === "tools" ? "toolsListChanged" : "resourceSubscriptions"
      if (at(asked, "params", "notifications", wanted) === undefined) return []
      const method = Object.entries(kinds).find(([, member]) => member === wanted)?.[0]
      return told.some((one) => one.method === method && one.at > place)
        ? []
        : [`subscription ${String(asked.id)} is not told of ${entry.what}`]
    })
  })
