/** The laws that every wire run must keep (packages/docs/laws.md), each as a check over one of its connections. Pure. */
import { Initialize, Cancelled, Ping } from "@colloquy/protocol/mcp/CodexMcp"
import type { Violation } from "../Laws.ts"
import { endsWithReason, numberedWithoutGap } from "./ListenerLaws.ts"
import { endBoundMs } from "./WirePlan.ts"
import {
  type ConnectionHistory,
  connectionsOf,
  eventsOf,
  isRequest,
  isResponse,
  respondedId,
  type WireMessage,
} from "./WireHistory.ts"
import type { WireRun } from "./WireWorld.ts"

/** Returns one text per violation by this connection; empty when it keeps the law. */
export type Check = (connection: ConnectionHistory) => ReadonlyArray<string>

const cancelled = ({ sent }: ConnectionHistory, id: unknown) =>
  sent.find(({ method, params }) => method === Cancelled._tag && params?.requestId === id)

/** True for a sent frame that must get a response although it carries no usable id. */
const withoutId = ({ text }: WireMessage) =>
  ['{"jsonrpc":', "[]", "NotUtf8", "TooLong"].includes(text)

/** L1: every request gets exactly one response, whatever happens, and nothing else gets any. */
export const answeredOnce: Check = (connection) => {
  const { sent, received, whole } = connection
  const requests = Map.groupBy(sent.filter(isRequest), ({ id }) => id)
  const responses = Map.groupBy(received.filter(isResponse), respondedId)
  const counts = [...requests].flatMap(([id, asked]) => {
    const answers = responses.get(id)?.length ?? 0
    const least = whole && cancelled(connection, id) === undefined ? asked.length : 0
    return answers >= least && answers <= asked.length
      ? []
      : [`request ${String(id)}: sent ${asked.length} times, answered ${answers} times`]
  })
  const strangers = [...responses.keys()].filter((id) => id !== null && !requests.has(id))
  return [
    ...counts,
    ...strangers.map((id) => `a response to ${String(id)}, which was never requested`),
  ]
}

/**
 * L1: once the server has read a cancellation, which a later answered `probe` proves, no response follows. `initialize` is
 * excepted: it cannot be cancelled.
 */
export const silentOnceCancelled =
  (probe: string): Check =>
  (connection) => {
    const { sent, received } = connection
    const asked = (id: unknown) => sent.filter((message) => isRequest(message) && message.id === id)
    return sent.filter(isRequest).flatMap(({ id, at, method }) => {
      const cancel = cancelled(connection, id)
      if (cancel === undefined || cancel.at < at || asked(id).length > 1) return []
      if (method === Initialize._tag) return []
      const ping = sent.find(
        (message) =>
          message.method === probe && message.at > cancel.at && asked(message.id).length === 1,
      )
      const pong = received.find((message) => isResponse(message) && message.id === ping?.id)
      const late = received.find((message) => isResponse(message) && message.id === id)
      return ping !== undefined && pong !== undefined && (late?.at ?? 0) > pong.at
        ? [`request ${String(id)} is answered after it was cancelled`]
        : []
    })
  }

const isTerminal = ({ params }: WireMessage) =>
  params?.msg?.type === "task_complete" || params?.msg?.type === "turn_aborted"

/** True unless the result is the error of a turn that could not be recorded. */
const isResult = ({ failures }: ConnectionHistory, { result }: WireMessage): boolean =>
  result !== undefined && (failures.length === 0 || result.isError !== true)

/** L2: a tool's result comes after the terminal event of its turn, and no event of the turn comes after the result. */
const resultLast: Check = (connection) =>
  connection.received.flatMap((response) => {
    if (!isResponse(response)) return []
    const events = eventsOf(connection, response.id)
    const terminal = events.find(isTerminal)
    const started = events.some(({ params }) => params?.msg?.type === "task_started")
    const repeated = connection.sent.filter(({ id }) => id === response.id).length > 1
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

/** L3: the first event of a new conversation is `session_configured`. */
const startsConfigured: Check = (connection) =>
  connection.sent.flatMap(({ id, params }) => {
    if (params?.name !== "codex") return []
    const [first] = eventsOf(connection, id)
    const type = first?.params?.msg?.type
    return first === undefined || type === "session_configured"
      ? []
      : [`the first event of call ${String(id)} is ${type}`]
  })

/** L5: a client gets one terminal event per turn, and no event of the turn after it. */
export const endsOnce: Check = (connection) =>
  connection.sent.filter(isRequest).flatMap(({ id }) => {
    const events = eventsOf(connection, id)
    const terminals = events.filter(isTerminal).length
    const last = events.at(-1)
    return terminals === 0 || (terminals === 1 && last !== undefined && isTerminal(last))
      ? []
      : [`the turn of ${String(id)}: ${terminals} terminal events, the last event ${last?.text}`]
  })

/** L9: the server ends within its bound after its input or its client has ended. */
export const endsInTime: Check = ({ endedMs = 0, name, over }) => {
  if (over === undefined || over.how === "stopped") return [`connection ${name} never ends`]
  return over.ms <= endedMs + endBoundMs
    ? []
    : [`connection ${name} ends at ${over.ms} ms, its client at ${endedMs} ms`]
}

/** The error code that each method must get. */
const codes: Readonly<Record<string, number>> = { "no/such": -32601 }

/** L13: a frame that cannot be served gets an error with a code, and the server continues. */
const badFramesAreReported: Check = (connection) => {
  const { received, name, over, sent, whole } = connection
  const unread = sent.filter(withoutId).length
  const errors = received.filter(
    (message) => respondedId(message) === null && message.error !== undefined,
  ).length
  const wrong = sent.flatMap(({ id, method = "" }) => {
    const code = codes[method]
    const answer = received.find((message) => isResponse(message) && message.id === id)
    return code === undefined || answer === undefined || answer.error?.code === code
      ? []
      : [`${method} is answered with ${answer.text}`]
  })
  return [
    ...wrong,
    ...(errors > unread || (whole && errors < unread)
      ? [`${unread} unreadable frames, ${errors} errors`]
      : []),
    ...(over?.how === "died" ? [`the server of connection ${name} failed`] : []),
  ]
}

interface WireLaw {
  readonly law: string
  /** What the check establishes, as a plain sentence. */
  readonly statement: string
  readonly check: Check
}

/** Every check of a wire run. */
export const wireLaws: ReadonlyArray<WireLaw> = [
  { law: "L1", statement: "every request is answered once", check: answeredOnce },
  {
    law: "L1",
    statement: "no cancelled request is answered",
    check: silentOnceCancelled(Ping._tag),
  },
  { law: "L2", statement: "a result is sent after the end of its turn", check: resultLast },
  { law: "L3", statement: "the first event is session_configured", check: startsConfigured },
  { law: "L5", statement: "the terminal event of a turn is sent once, last", check: endsOnce },
  { law: "L4", statement: "a listener gets every event number once", check: numberedWithoutGap },
  {
    law: "L5",
    statement: "every listener ends after the turn or with a reason",
    check: endsWithReason,
  },
  { law: "L9", statement: "the server ends within its bound after its input", check: endsInTime },
  {
    law: "L13",
    statement: "a bad frame is reported, and the server continues",
    check: badFramesAreReported,
  },
]

/** Every violation of a wire run; a run that does not end breaks L1. */
export const wireViolationsOf = (run: WireRun): ReadonlyArray<Violation> => {
  const connections = connectionsOf(run)
  return [
    ...(run.end === "done" ? [] : [{ law: "L1", what: `the run is ${run.end}` }]),
    ...wireLaws.flatMap(({ law, statement, check }) =>
      connections.flatMap((connection) =>
        check(connection).map((what) => ({ law, what: `${statement}: ${what}` })),
      ),
    ),
  ]
}
