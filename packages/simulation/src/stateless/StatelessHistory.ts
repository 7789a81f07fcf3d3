/** The trace of a run without handshakes, grouped for its laws: the messages of each connection, and the call for which each request state is valid. Pure. */
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import {
  type ConnectionHistory,
  connectionsOf,
  isResponse,
  type WireMessage,
} from "../wire/WireHistory.ts"
import { at, isMembers, type Members } from "./StatelessKnown.ts"
import { anHourMs, type StatelessClientPlan } from "./StatelessPlan.ts"
import type { StatelessRun } from "./StatelessWorld.ts"

/** One connection of a run without handshakes. */
export type Connection = ConnectionHistory<StatelessClientPlan>

/** One `tools/call` request. */
export interface ToolCall {
  readonly connection: Connection
  readonly asked: WireMessage
  /** The text that distinguishes it from other calls. */
  readonly text: string
  readonly tool: string
  /** The request state that it carries. */
  readonly state: string | undefined
  /** True when that state was issued for this call and has not expired, and for a call without a state. */
  readonly isGood: boolean
  /** Undefined when the client received no response, or sent several requests with the id. */
  readonly answer: WireMessage | undefined
}

/** Everything that the laws check of one run. */
export interface StatelessHistory {
  readonly run: StatelessRun
  readonly connections: ReadonlyArray<Connection>
  readonly calls: ReadonlyArray<ToolCall>
  /** Id of the conversation that a call created, by the text of the call. */
  readonly conversations: ReadonlyMap<string, string>
}

/** The response to a request; undefined when there is none, or when its id was used more than once. */
export const answerTo = (
  { received, sent }: Connection,
  { id }: WireMessage,
): WireMessage | undefined => {
  const again = sent.filter((one) => one.id === id && one.method !== undefined).length > 1
  return again ? undefined : received.find((one) => isResponse(one) && one.id === id)
}

/** What a request state is bound to, and when it was issued. */
interface Given {
  readonly principal: string
  readonly name: string
  readonly args: string
  readonly ms: number
}

const textIn = (args: unknown): string => {
  const text = at(args, "prompt") ?? at(args, "text")
  return typeof text === "string" ? text : ""
}

const isCall = ({ id, method }: WireMessage) => method === ToolsCall._tag && id !== undefined

/** The request states that clients received, with what each is bound to. */
const statesOf = (connections: ReadonlyArray<Connection>): ReadonlyMap<string, Given> =>
  new Map(
    connections.flatMap(({ received, plan: { principal }, sent }) =>
      received.flatMap((answer) => {
        const state = at(answer, "result", "requestState")
        const params = sent.find((one) => isCall(one) && one.id === answer.id)?.params
        if (typeof state !== "string" || params === undefined) return []
        const args = JSON.stringify(at(params, "arguments"))
        const name = String(at(params, "name"))
        return [[state, { principal, name, args, ms: answer.ms }] as const]
      }),
    ),
  )

const callsOf = (connections: ReadonlyArray<Connection>): ReadonlyArray<ToolCall> => {
  const states = statesOf(connections)
  return connections.flatMap((connection) =>
    connection.sent.filter(isCall).map((asked): ToolCall => {
      const params = (isMembers(asked.params) ? asked.params : {}) as Members
      const { arguments: args, name, requestState } = params
      const state = typeof requestState === "string" ? requestState : undefined
      const given = state === undefined ? undefined : states.get(state)
      const isGood =
        state === undefined ||
        (given !== undefined &&
          given.principal === connection.plan.principal &&
          given.name === name &&
          given.args === JSON.stringify(args) &&
          asked.ms < given.ms + anHourMs)
      const answer = answerTo(connection, asked)
      return { connection, asked, text: textIn(args), tool: String(name), state, isGood, answer }
    }),
  )
}

/** Groups the trace of a run. */
export const statelessHistoryOf = (run: StatelessRun): StatelessHistory => {
  const connections = connectionsOf(run)
  return {
    run,
    connections,
    calls: callsOf(connections),
    conversations: new Map(
      run.trace.flatMap((entry) =>
        entry.at === "prompted" && entry.text !== "" ? [[entry.text, entry.conversation]] : [],
      ),
    ),
  }
}

/** True for an error response, with that code if one is given. */
export const isError = (answer: WireMessage | undefined, code?: number): boolean =>
  answer?.error !== undefined && (code === undefined || answer.error.code === code)

/** The `resultType` member of a result. */
export const resultType = (answer: WireMessage | undefined): unknown =>
  at(answer, "result", "resultType")
