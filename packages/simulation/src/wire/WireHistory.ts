/** The trace of a wire run, grouped by connection for its laws: what the client sent and what it received. Pure. */
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Entry } from "../trace/Trace.ts"
import type { WireClientPlan } from "./WirePlan.ts"

/** The parts of a client's plan that every kind of wire run has. */
type Client = Pick<WireClientPlan, "ends" | "reading">

interface RecordedRun<C extends Client> {
  readonly plan: { readonly connections: ReadonlyArray<C> }
  readonly trace: ReadonlyArray<Entry>
}

/** One frame as the trace holds it. A text that is not a JSON object has only the first three members. */
export interface WireMessage {
  /** Index in the trace. */
  readonly at: number
  /** Virtual time. */
  readonly ms: number
  readonly text: string
  readonly id?: unknown
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly requestId?: unknown
    readonly _meta?: { readonly requestId?: unknown }
    readonly conversationId?: string
    readonly subscriptionId?: string
    readonly after?: number
    readonly id?: string
    readonly seq?: number
    readonly from?: number
    readonly reason?: string
    readonly msg?: { readonly type: string }
  }
  readonly result?: { readonly isError?: boolean; readonly subscriptionId?: string }
  readonly error?: { readonly code: number; readonly data?: { readonly id?: unknown } }
}

/** Everything that happened on one connection. */
export interface ConnectionHistory<C extends Client = Client> {
  readonly name: number
  readonly plan: C
  readonly sent: ReadonlyArray<WireMessage>
  readonly received: ReadonlyArray<WireMessage>
  /** Virtual time at which the client ended. */
  readonly endedMs: number | undefined
  /** When and how the server ended after it. */
  readonly over: { readonly ms: number; readonly how: string } | undefined
  /** Appends that could not be recorded, whichever client caused them. */
  readonly failures: ReadonlyArray<{
    readonly conversation: string
    readonly at: number
    readonly ms: number
  }>
  /** True when the server read everything the client sent and the client read everything the server sent. */
  readonly whole: boolean
}

const parse = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** One history per connection of the plan, in the plan's order. */
export const connectionsOf = <C extends Client>({
  plan,
  trace,
}: RecordedRun<C>): ReadonlyArray<ConnectionHistory<C>> =>
  plan.connections.map((client, name) => {
    const messages = (way: "in" | "out") =>
      trace.flatMap((entry, at) =>
        entry.at === "wire" && entry.connection === name && entry.way === way
          ? [{ ...parse(entry.text), at, ms: entry.ms, text: entry.text }]
          : [],
      )
    const ends = trace.flatMap((entry) =>
      entry.at === "wireEnd" && entry.connection === name ? [entry] : [],
    )
    return {
      name,
      plan: client,
      sent: messages("out"),
      received: messages("in"),
      endedMs: ends.find(({ how }) => how === "closes" || how === "drops")?.ms,
      over: ends.find(({ how }) => how !== "closes" && how !== "drops"),
      failures: trace.flatMap((entry, at) =>
        entry.at === "append" && entry.how !== undefined
          ? [{ conversation: entry.conversation, at, ms: entry.ms }]
          : [],
      ),
      whole: client.ends === "closes" && client.reading.how !== "stops",
    }
  })

/** True for a message with an id and a method. */
export const isRequest = ({ id, method }: WireMessage): boolean =>
  id !== undefined && method !== undefined

/** True for a message with an id and no method. */
export const isResponse = ({ id, method }: WireMessage): boolean =>
  id !== undefined && method === undefined

/**
 * The id of the request that a message responds to. A request under an id in use is refused without an id of its own, so
 * that the error is not mistaken for the first request's response; `data.id` names it.
 */
export const respondedId = ({ id, error }: WireMessage): unknown =>
  id === null && error?.data?.id !== undefined ? error.data.id : id

/** The `codex/event` notifications that a client received for one of its requests. */
export const eventsOf = (
  { received }: ConnectionHistory,
  id: unknown,
): ReadonlyArray<WireMessage> =>
  received.filter(
    ({ method, params }) => method === CodexEvent._tag && params?._meta?.requestId === id,
  )
