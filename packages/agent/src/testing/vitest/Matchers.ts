/**
 * Matchers for Vitest.
 *
 * ```ts
 * import { matchers } from "@colloquy/agent/testing/vitest"
 * expect.extend(matchers)
 *
 * expect(till).toHaveCalled("refund", { order: "A1" })
 * expect(till).toEndTurn("done")
 * ```
 *
 * They accept an agent of `Agent.test`, the events of a conversation, and, where numbers of events do not matter, what the
 * stream of an `ask` gave.
 */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { eventLaws, type EventLog } from "@colloquy/simulation/EventLaws"
import type { MatcherState } from "vitest"
import { checkOptions, named } from "../../internal/Options.ts"
import { brokenIn, checkLaws } from "../Laws.ts"
import type { SentRequest } from "../SentRequest.ts"
import { lastMessagesOf, logsOf, messagesOf, requestsOf } from "./Received.ts"

declare module "vitest" {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** A tool of this name ran, with this input if one is given. A call that was denied or could not be read did not run. */
    toHaveCalled: (tool: string, input?: unknown) => R
    /** The last turn ended by itself, with this answer if one is given. */
    toEndTurn: (answer?: string | RegExp) => R
    /** Every conversation keeps the shipped laws and these; no turn runs any more. */
    toSatisfyLaws: (laws?: Readonly<Record<string, (log: EventLog) => ReadonlyArray<string>>>) => R
    /** One request of the model had these parts. */
    toHaveBeenSent: (request: Partial<SentRequest>) => R
  }
}

/** What a matcher uses of Vitest. */
type Matching = Pick<MatcherState, "equals" | "isNot" | "utils">

interface Matched {
  readonly pass: boolean
  readonly message: () => string
}

const lines = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? "  (none)" : texts.map((text) => `  ${text}`).join("\n")

const not = ({ isNot }: Matching): string => (isNot ? "not " : "")

function toHaveCalled(
  this: Matching,
  received: unknown,
  tool: string,
  ...input: [input?: unknown]
): Matched {
  checkOptions("toHaveCalled tool", named("the name of a tool"), tool)
  const calls = messagesOf(received).flatMap((msg) => {
    if (msg.type === "tool_call_begin") return [{ tool: msg.tool, input: msg.arguments }]
    if (msg.type !== "mcp_tool_call_begin") return []
    return [{ tool: msg.invocation.tool, input: msg.invocation.arguments }]
  })
  const { stringify } = this.utils
  const shown = (name: string, value: unknown) => `${name}(${stringify(value)})`
  return {
    pass: calls.some(
      (call) => call.tool === tool && (input.length === 0 || this.equals(call.input, input[0])),
    ),
    message: () =>
      `expected the tool ${input.length === 0 ? tool : shown(tool, input[0])} ${not(this)}to have run; these ran:\n${lines(calls.map((call) => shown(call.tool, call.input)))}`,
  }
}

function toEndTurn(this: Matching, received: unknown, answer?: string | RegExp): Matched {
  const messages = lastMessagesOf(received)
  const turn = messages.slice(messages.findLastIndex((msg) => msg.type === "task_started") + 1)
  const last = messages.findLast((msg) => msg.type === "task_started" || isTerminal(msg))
  const text = last?.type === "task_complete" ? (last.last_agent_message ?? "") : undefined
  const failure = turn.findLast((msg) => msg.type === "error")
  const { stringify } = this.utils
  const isEnd =
    text !== undefined &&
    (answer === undefined ||
      (answer instanceof RegExp ? text.search(answer) !== -1 : this.equals(text, answer)))
  const because = failure?.type === "error" ? `, after the error: ${failure.message}` : ""
  const end = () => {
    if (last === undefined) return "there was no turn"
    if (last.type === "task_complete") return `it ended with ${stringify(text)}${because}`
    return last.type === "turn_aborted"
      ? `it was aborted: ${last.reason}${because}`
      : "it has not ended"
  }
  return {
    pass: isEnd && (because === "" || answer !== undefined),
    message: () =>
      `expected the last turn ${not(this)}to end${answer === undefined ? "" : ` with ${stringify(answer)}`}; ${end()}`,
  }
}

function toSatisfyLaws(
  this: Matching,
  received: unknown,
  laws: Readonly<Record<string, (log: EventLog) => ReadonlyArray<string>>> = {},
): Matched {
  checkLaws("toSatisfyLaws", laws)
  const violations = logsOf(received).flatMap((log) => [
    ...eventLaws.flatMap(({ check, law, statement }) =>
      check(log).map((what) => `${law} ${statement}: ${what}`),
    ),
    ...brokenIn(laws, log).map(({ law, what }) => `${law}: ${what}`),
  ])
  return {
    pass: violations.length === 0,
    message: () =>
      this.isNot
        ? "expected a law to be broken; all are kept"
        : `expected the laws to be kept; these are broken:\n${lines(violations)}`,
  }
}

const requestMembers = ["instructions", "messages", "tools", "outputs"] as const

function toHaveBeenSent(
  this: Matching,
  received: unknown,
  expected: Partial<SentRequest>,
): Matched {
  const requests = requestsOf(received)
  const members = requestMembers.filter((member) => expected[member] !== undefined)
  const { stringify } = this.utils
  const unknown = Object.keys(expected).filter((key) => !requestMembers.some((m) => m === key))
  if (unknown.length > 0) {
    throw new TypeError(
      `toHaveBeenSent: unknown member \`${unknown[0]}\`, expected one of ${requestMembers.join(", ")}`,
    )
  }
  const parts = (request: SentRequest) =>
    members.map((member) => `${member}: ${stringify(request[member])}`).join(", ")
  return {
    pass: requests.some((request) =>
      members.every((member) => this.equals(request[member], expected[member])),
    ),
    message: () =>
      `expected the model ${not(this)}to have been sent ${stringify(expected)}; its requests:\n${lines(requests.map(parts))}`,
  }
}

/** The matchers, for `expect.extend`. */
export const matchers = { toHaveCalled, toEndTurn, toSatisfyLaws, toHaveBeenSent }
