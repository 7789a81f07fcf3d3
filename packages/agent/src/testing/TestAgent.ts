/**
 * `Agent` for tests: everything of `Agent`, a scripted model, and `Agent.test`, an agent whose turns settle by themselves
 * on the `TestClock`: pauses, retries, deadlines and budgets of time pass at once.
 *
 * ```ts
 * it.effect("refunds small sums", () =>
 *   Effect.gen(function* () {
 *     const till = Agent.test({ tools: [refund], script: [Agent.calls("refund", { order: "A1", cents: 5 }), "done"] })
 *     const chat = yield* till.open()
 *     assert.strictEqual((yield* chat.ask("refund A1").result).text, "done")
 *     assert.deepStrictEqual(till.sent().outputs, ["refunded A1"])
 *   }))
 * ```
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import {
  type Agent,
  agentKind,
  agentKinds,
  type AgentOptions,
  fromDefinition,
  type MachineQuestionsOf,
  make,
} from "../MakeAgent.ts"
import type { OpenError } from "../AgentErrors.ts"
import type { Chat, OpenOptions } from "../Chat.ts"
import type { AgentDefinition } from "../internal/AgentDefinition.ts"
import {
  type Kinds,
  checkOptions,
  is,
  optional,
  options as optionsOf,
  text,
} from "../internal/Options.ts"
import type { Machine } from "../Machine.ts"
import { memory } from "../Store.ts"
import type { AnyTools, QuestionsOf, ServicesOf } from "../Tool.ts"
import type { Ask, AskOptions, Input, Turn } from "../Turn.ts"
import { type Script, scripted, type ScriptedModel } from "./ScriptedModel.ts"
import { EventLogs } from "./EventLogs.ts"
import { type SentRequest, sentOf } from "./SentRequest.ts"
import { clockOf, type Settle, settledStream, settling } from "./Settle.ts"
import { waitingIn } from "./Waiting.ts"
import { onlyOn } from "./WrongClock.ts"

export * from "../Agent.ts"
export * from "./ScriptedModel.ts"
export { appClient, mcpClient } from "./Connections.ts"
export { disconnects, type FaultyStore, faultyStore } from "./Faults.ts"
export { EventLogs, type LoggedEvent } from "./EventLogs.ts"
export { eventsOf } from "./EventsOf.ts"
export { normalized } from "./Normalized.ts"
export { record, type Recorder, type RecordOptions } from "./recording/Record.ts"
export { Recording } from "./recording/Recording.ts"
export { replay, type Replay } from "./recording/Replay.ts"
export type { SentRequest } from "./SentRequest.ts"
export {
  type EventLog,
  type Law,
  seeds,
  simulate,
  type SimulatedRun,
  SimulationFailed,
  type SimulationReport,
} from "./Simulate.ts"
export { NothingToRun, settle, SleepsForever } from "./Settle.ts"
export { WrongClock } from "./WrongClock.ts"

/** An agent under test. */
export interface TestAgent<Q, out R> {
  /** Like `Agent.open`. Its chats settle by themselves. */
  readonly open: (
    name?: string,
    options?: OpenOptions<Q>,
  ) => Effect.Effect<Chat<Q>, OpenError, R | Scope.Scope>
  /** The scripted model, with every request in full. */
  readonly model: ScriptedModel
  /** What the model got in a request, in short. Default: the last one. Throws where there is no such request. */
  readonly sent: (index?: number) => SentRequest
  /**
   * The events of a chat's conversation so far, deltas included, from the first turn since its `open` on. Default: those of
   * the only conversation; throws where there are several.
   */
  readonly events: (chat?: { readonly id: string }) => ReadonlyArray<Event>
  /** The events of all its conversations. */
  readonly logs: EventLogs
  /** The agent itself, for what takes an agent. Its chats do not settle by themselves. */
  readonly agent: Agent<Q, never, R>
}

/** The parts of an agent that a test makes by itself. */
export interface TestOptions<
  T extends ReadonlyArray<AnyTools>,
  S extends Layer.Layer<ConversationStore>,
  R,
  X extends Machine | undefined = undefined,
> extends Omit<AgentOptions<T, never, S, R, X>, "model" | "instructions"> {
  /** Default: none. */
  readonly instructions?: string
  /** The responses of the model. */
  readonly script: Script
  readonly agent?: never
}

/** An agent of the program, for a test: its model and its store are replaced. */
export interface TestOf<Q, T> {
  readonly agent: Agent<Q, unknown, unknown, T>
  readonly script: Script
}

/** What the implementation of `test` sees of either form. */
type AnyTest = {
  readonly agent?: { readonly "~colloquy/agent": { readonly definition: AgentDefinition } }
  readonly script: Script
  readonly instructions?: string
}

const script = is(
  "an array of responses, or a function that gives the response to each request",
  (value) => Array.isArray(value) || typeof value === "function",
)

const { model: _, ...partKinds } = agentKinds

const testOptions = optionsOf({
  ...partKinds,
  instructions: optional(text),
  script,
  agent: optional(agentKind),
} satisfies Kinds<
  TestOptions<ReadonlyArray<AnyTools>, Layer.Layer<ConversationStore>, unknown, Machine>
>)

const testOfOptions = optionsOf({ agent: agentKind, script } satisfies Kinds<
  TestOf<unknown, unknown>
>)

const settledTurn = <A>(turn: Turn<A>, settle: Settle): Turn<A> => ({
  ...turn,
  result: settle(turn.result),
  events: settledStream(turn.events, settle),
})

const settledChat = <Q>(chat: Chat<Q>, settle: Settle): Chat<Q> => ({
  id: chat.id,
  isResumed: chat.isResumed,
  conversation: chat.conversation,
  events: (options) => settledStream(chat.events(options), settle),
  child: (options) =>
    Effect.map(settle(chat.child(options)), (child) => settledChat(child, settle)),
  ask: <A = string, R = never>(input: Input, options?: AskOptions<Q, A, R>): Ask<A, R> => {
    const ask = chat.ask(input, options)
    return Object.assign(settledStream(ask, settle), {
      result: settle(ask.result),
      start: Effect.map(settle(ask.start), (turn) => settledTurn(turn, settle)),
    })
  },
})

const testOf = <Q, R>(agent: Agent<Q, never, R>, model: ScriptedModel): TestAgent<Q, R> => {
  const logs = new EventLogs()
  const settle = settling(() => waitingIn(logs))
  return {
    agent,
    logs,
    events: (chat) => {
      if (chat !== undefined) return logs.of(chat.id)
      const [only, ...others] = logs.conversations
      if (others.length === 0) return only === undefined ? [] : logs.of(only)
      throw new Error(
        `the agent has ${others.length + 1} conversations with events: name one, as \`events(chat)\``,
      )
    },
    model,
    sent: (index = model.requests.length - 1) => {
      const request = model.requests[index]
      if (request !== undefined) return sentOf(request)
      throw new Error(
        `the model got ${model.requests.length} requests, and none with index ${index}`,
      )
    },
    open: (name, options) =>
      Effect.gen(function* () {
        const openedOn = yield* clockOf
        const chat = yield* settle(logs.observe(agent.open(name, options)))
        return settledChat(chat, (effect) => settle(onlyOn(openedOn, chat.id, effect)))
      }),
  }
}

/**
 * Makes an agent for a test, of its own tools or of an agent of the program; the model follows the script. A turn whose
 * request nobody expected fails with that request.
 */
export const test: {
  <Q, T>(options: TestOf<Q, T>): TestAgent<Q, T>
  <
    const T extends ReadonlyArray<AnyTools> = readonly [],
    S extends Layer.Layer<ConversationStore> = Layer.Layer<ConversationStore>,
    R = never,
    X extends Machine | undefined = undefined,
  >(
    options: TestOptions<T, S, R, X>,
  ): TestAgent<QuestionsOf<T[number]> | MachineQuestionsOf<X>, ServicesOf<T[number]> | R>
} = (options: AnyTest): TestAgent<never, never> => {
  const isAgentGiven = Predicate.hasProperty(options, "agent") && options.agent !== undefined
  checkOptions("Agent.test", isAgentGiven ? testOfOptions : testOptions, options)
  const { agent, script, ...parts } = options
  const model = scripted(script)
  const known = agent ?? make({ instructions: "", ...parts, model })
  return testOf(
    fromDefinition<never, never, never>({
      ...known["~colloquy/agent"].definition,
      model,
      ...(agent === undefined ? {} : { store: memory() }),
      // Nothing wakes up again and again while a test waits.
      idleTimeToLive: Duration.days(1000),
    }),
    model,
  )
}
