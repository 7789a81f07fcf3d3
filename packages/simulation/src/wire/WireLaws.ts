/** The laws (design §5) that every wire run has to keep, each as a check over its connections. Pure. */
import { Cancelled, Initialize, Ping } from "@colloquy/protocol/mcp/CodexMcp"
import type { Violation } from "../Laws.ts"
import { endsOrSaysWhy, numberedWithoutGap } from "./ListenerLaws.ts"
import { endBoundMs } from "./WirePlan.ts"
import {
  type ConnectionStory,
  connectionsOf,
  eventsOf,
  isRequest,
  isResponse,
  respondedId,
  type WireMessage,
} from "./WireHistory.ts"
import type { WireRun } from "./WireWorld.ts"

export type Check = (connection: ConnectionStory) => ReadonlyArray<string>

const cancelled = ({ said }: ConnectionStory, id: unknown) =>
  said.find(({ method, params }) => method === Cancelled._tag && params?.requestId === id)

/** Said, and answerable though it has no id to answer to. */
const nameless = ({ text }: WireMessage) =>
  ['{"jsonrpc":', "[]", "NotUtf8", "TooLong"].includes(text)

/** L1: one response per request, whatever happens; to nothing else. */
export const answeredOnce: Check = (connection) => {
  const { said, heard, whole } = connection
  const requests = Map.groupBy(said.filter(isRequest), ({ id }) => id)
  const responses = Map.groupBy(heard.filter(isResponse), respondedId)
  const counts = [...requests].flatMap(([id, asked]) => {
    const answers = responses.get(id)?.length ?? 0
    const least = whole && cancelled(connection, id) === undefined ? asked.length : 0
    return answers >= least && answers <= asked.length
      ? []
      : [`request ${String(id)}: asked ${asked.length} times, answered ${answers} times`]
  })
  const strangers = [...responses.keys()].filter((id) => id !== null && !requests.has(id))
  return [...counts, ...strangers.map((id) => `an answer to ${String(id)}, which nobody asked`)]
}

/**
 * L1: once the server has read a cancellation, which a later answered `probe` shows, no answer follows. Of `initialize` it
 * may: that one cannot be taken back.
 */
export const silentOnceCancelled =
  (probe: string): Check =>
  (connection) => {
    const { said, heard } = connection
    const asked = (id: unknown) => said.filter((message) => isRequest(message) && message.id === id)
    return said.filter(isRequest).flatMap(({ id, at, method }) => {
      const cancel = cancelled(connection, id)
      if (cancel === undefined || cancel.at < at || asked(id).length > 1) return []
      if (method === Initialize._tag) return []
      const ping = said.find(
        (message) =>
          message.method === probe && message.at > cancel.at && asked(message.id).length === 1,
      )
      const pong = heard.find((message) => isResponse(message) && message.id === ping?.id)
      const late = heard.find((message) => isResponse(message) && message.id === id)
      return ping !== undefined && pong !== undefined && (late?.at ?? 0) > pong.at
        ? [`request ${String(id)} is answered after it was cancelled`]
        : []
    })
  }

const isTerminal = ({ params }: WireMessage) =>
  params?.msg?.type === "task_complete" || params?.msg?.type === "turn_aborted"

/** A turn whose end could not be recorded has an error as its result. */
const isResult = ({ failures }: ConnectionStory, { result }: WireMessage): boolean =>
  result !== undefined && (failures.length === 0 || result.isError !== true)

/** L2: a tool's result comes after the terminal event of its turn, and nothing of the turn after it. */
const resultLast: Check = (connection) =>
  connection.heard.flatMap((response) => {
    if (!isResponse(response)) return []
    const events = eventsOf(connection, response.id)
    const terminal = events.find(isTerminal)
    const started = events.some(({ params }) => params?.msg?.type === "task_started")
    const repeated = connection.said.filter(({ id }) => id === response.id).length > 1
    if (repeated) return []
    return [
      ...(started && isResult(connection, response) && (terminal?.at ?? Infinity) > response.at
        ? [`the result of ${String(response.id)} comes before its terminal event`]
        : []),
      ...events.flatMap(({ at, params }) =>
        at > response.at ? [`${params?.msg?.type} of ${String(response.id)} after its result`] : [],
      ),
    ]
  })

/** L3: what a new conversation says first is `session_configured`. */
const beginsConfigured: Check = (connection) =>
  connection.said.flatMap(({ id, params }) => {
    if (params?.name !== "codex") return []
    const [first] = eventsOf(connection, id)
    const type = first?.params?.msg?.type
    return first === undefined || type === "session_configured"
      ? []
      : [`the call ${String(id)} begins with ${type}`]
  })

/** L5: a turn is told to be over once, and nothing of it is told after that. */
export const endsOnce: Check = (connection) =>
  connection.said.filter(isRequest).flatMap(({ id }) => {
    const events = eventsOf(connection, id)
    const terminals = events.filter(isTerminal).length
    const last = events.at(-1)
    return terminals === 0 || (terminals === 1 && last !== undefined && isTerminal(last))
      ? []
      : [`the turn of ${String(id)}: ${terminals} terminal events, the last event ${last?.text}`]
  })

/** L9: the end of input, and the end of the client, are the end of the server, within its bound. */
export const endsInTime: Check = ({ endedMs = 0, name, over }) => {
  if (over === undefined || over.how === "stopped") return [`connection ${name} is served for ever`]
  return over.ms <= endedMs + endBoundMs
    ? []
    : [`connection ${name} ends at ${over.ms}, its client at ${endedMs}`]
}

const codes: Readonly<Record<string, number>> = { "no/such": -32601 }

/** L13: what cannot be served is answered with a code, and the server goes on. */
const garbageIsTold: Check = (connection) => {
  const { heard, name, over, said, whole } = connection
  const unread = said.filter(nameless).length
  const told = heard.filter(
    (message) => respondedId(message) === null && message.error !== undefined,
  ).length
  const wrong = said.flatMap(({ id, method = "" }) => {
    const code = codes[method]
    const answer = heard.find((message) => isResponse(message) && message.id === id)
    return code === undefined || answer === undefined || answer.error?.code === code
      ? []
      : [`${method} is answered with ${answer.text}`]
  })
  return [
    ...wrong,
    ...(told > unread || (whole && told < unread)
      ? [`${unread} unreadable frames, ${told} told of`]
      : []),
    ...(over?.how === "died" ? [`the server of connection ${name} died`] : []),
  ]
}

interface WireLaw {
  readonly law: string
  readonly says: string
  readonly check: Check
}

export const wireLaws: ReadonlyArray<WireLaw> = [
  { law: "L1", says: "answers every request once", check: answeredOnce },
  { law: "L1", says: "answers nothing that was cancelled", check: silentOnceCancelled(Ping._tag) },
  { law: "L2", says: "sends a result after the end of its turn", check: resultLast },
  { law: "L3", says: "begins with session_configured", check: beginsConfigured },
  { law: "L5", says: "tells the end of a turn once, last", check: endsOnce },
  { law: "L4", says: "sends a listener every number once", check: numberedWithoutGap },
  { law: "L5", says: "ends every listener after the turn, or says why", check: endsOrSaysWhy },
  { law: "L9", says: "ends with its input, within its bound", check: endsInTime },
  { law: "L13", says: "tells what is wrong with a frame, and goes on", check: garbageIsTold },
]

export const wireViolationsOf = (run: WireRun): ReadonlyArray<Violation> => {
  const connections = connectionsOf(run)
  return [
    ...(run.end === "done" ? [] : [{ law: "L1", what: `the run is ${run.end}` }]),
    ...wireLaws.flatMap(({ law, says, check }) =>
      connections.flatMap((connection) =>
        check(connection).map((what) => ({ law, what: `${says}: ${what}` })),
      ),
    ),
  ]
}
