/** The trace of a wire run, sorted for its laws: per connection what was said and what was answered. Pure. */
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Entry } from "../trace/Trace.ts"
import type { WireClientPlan } from "./WirePlan.ts"

/** What the client of any wire run has. */
type Client = Pick<WireClientPlan, "ends" | "reading">

interface Told<C extends Client> {
  readonly plan: { readonly connections: ReadonlyArray<C> }
  readonly trace: ReadonlyArray<Entry>
}

export interface WireMessage {
  /** The place in the trace. */
  readonly at: number
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

export interface ConnectionStory<C extends Client = Client> {
  readonly name: number
  readonly plan: C
  readonly said: ReadonlyArray<WireMessage>
  readonly heard: ReadonlyArray<WireMessage>
  /** When the client ended, and the server after it; how that was. */
  readonly endedMs: number | undefined
  readonly over: { readonly ms: number; readonly how: string } | undefined
  /** What could not be recorded, by whoever caused it. */
  readonly failures: ReadonlyArray<{
    readonly conversation: string
    readonly at: number
    readonly ms: number
  }>
  /** Everything the client said was read, and everything the server said. */
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

export const connectionsOf = <C extends Client>({
  plan,
  trace,
}: Told<C>): ReadonlyArray<ConnectionStory<C>> =>
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
      said: messages("out"),
      heard: messages("in"),
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

export const isRequest = ({ id, method }: WireMessage): boolean =>
  id !== undefined && method !== undefined

export const isResponse = ({ id, method }: WireMessage): boolean =>
  id !== undefined && method === undefined

/**
 * The id of the request that a message responds to. A request under an id in use is refused without an id of its own, so
 * that the error is not mistaken for the first request's response; `data.id` names it.
 */
export const respondedId = ({ id, error }: WireMessage): unknown =>
  id === null && error?.data?.id !== undefined ? error.data.id : id

/** The events a client heard of one of its requests. */
export const eventsOf = ({ heard }: ConnectionStory, id: unknown): ReadonlyArray<WireMessage> =>
  heard.filter(
    ({ method, params }) => method === CodexEvent._tag && params?._meta?.requestId === id,
  )
