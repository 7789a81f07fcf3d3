/** The trace of a run without handshakes, sorted for its laws: what was said and heard, and what each state was good for. Pure. */
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import {
  type ConnectionStory,
  connectionsOf,
  isResponse,
  type WireMessage,
} from "../wire/WireHistory.ts"
import { at, isMembers, type Members } from "./StatelessKnown.ts"
import { anHourMs, type StatelessClientPlan } from "./StatelessPlan.ts"
import type { StatelessRun } from "./StatelessWorld.ts"

export type Connection = ConnectionStory<StatelessClientPlan>

/** A request for a tool. */
export interface ToolCall {
  readonly connection: Connection
  readonly asked: WireMessage
  /** What tells it from others. */
  readonly text: string
  readonly tool: string
  /** The state that it brings. */
  readonly state: string | undefined
  /** Whether that state is one of this call, in time; true for a call without one. */
  readonly isGood: boolean
  /** Undefined when the client heard none, or said several things under the id. */
  readonly answer: WireMessage | undefined
}

export interface StatelessStory {
  readonly run: StatelessRun
  readonly connections: ReadonlyArray<Connection>
  readonly calls: ReadonlyArray<ToolCall>
  /** The conversation of a call, by its text. */
  readonly conversations: ReadonlyMap<string, string>
}

/** The answer to a request whose id was used once. */
export const answerTo = (
  { heard, said }: Connection,
  { id }: WireMessage,
): WireMessage | undefined => {
  const again = said.filter((one) => one.id === id && one.method !== undefined).length > 1
  return again ? undefined : heard.find((one) => isResponse(one) && one.id === id)
}

/** What a state is bound to. */
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

/** The states that clients were given, and for what. */
const statesOf = (connections: ReadonlyArray<Connection>): ReadonlyMap<string, Given> =>
  new Map(
    connections.flatMap(({ heard, plan: { principal }, said }) =>
      heard.flatMap((answer) => {
        const state = at(answer, "result", "requestState")
        const params = said.find((one) => isCall(one) && one.id === answer.id)?.params
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
    connection.said.filter(isCall).map((asked): ToolCall => {
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

export const storyOf = (run: StatelessRun): StatelessStory => {
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

export const isError = (answer: WireMessage | undefined, code?: number): boolean =>
  answer?.error !== undefined && (code === undefined || answer.error.code === code)

export const resultType = (answer: WireMessage | undefined): unknown =>
  at(answer, "result", "resultType")
