/** The agent as a value, and what it is made of. It owns nothing until a chat of it is open. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import { ReasoningEffort, Verbosity } from "@colloquy/protocol/Policy"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { OpenError } from "./AgentErrors.ts"
import type { OnApproval } from "./Approval.ts"
import { type Budget, budgetOptions } from "./Budget.ts"
import { type Chat, openOptions, type OpenOptions } from "./Chat.ts"
import type { AgentDefinition } from "./internal/AgentDefinition.ts"
import { AgentRuntime } from "./internal/AgentRuntime.ts"
import { BadOption } from "./internal/OptionErrors.ts"
import {
  type Kinds,
  checkOptions,
  duration,
  func,
  listOf,
  made,
  named,
  oneOf,
  optional,
  options as optionsOf,
  text,
} from "./internal/Options.ts"
import { openChat } from "./internal/OpenChat.ts"
import { type Machine, machineNameIn, type MachineQuestion } from "./Machine.ts"
import { type AnyModel, type ModelErrors, modelKind, modelOf, type ModelServices } from "./Model.ts"
import { memory, type StoreErrors, storeKind, type StoreServices } from "./Store.ts"
import { type AnyTools, type QuestionsOf, type ServicesOf, toolsKey } from "./Tool.ts"

type AnyStore = Layer.Layer<ConversationStore, unknown, unknown>

/** The questions of the tools of a machine, where there is one. */
export type MachineQuestionsOf<X> = X extends Machine ? MachineQuestion : never

/** What an agent is made of. */
export interface AgentOptions<
  T extends ReadonlyArray<AnyTools>,
  M extends AnyModel,
  S extends AnyStore,
  R,
  X extends Machine | undefined = undefined,
> {
  /** The system text. */
  readonly instructions: string
  /** A provider, or a layer or value of `effect/ai`'s `LanguageModel`. */
  readonly model: M
  /** All tools that it has. Default: none. */
  readonly tools?: T
  /** `Agent.machine(…)`: the tools of this machine as well. Default: none of them. */
  readonly machine?: X
  /** Where its conversations are kept. Default: in memory, as long as the agent exists. */
  readonly store?: S
  /**
   * Decides the questions of its tools where nothing else does. Without a policy and without an `onApproval` of the chat
   * or of the `ask`, a question is denied at once, and the model reads that no policy approved it.
   */
  readonly onApproval?: OnApproval<QuestionsOf<T[number]> | MachineQuestionsOf<X>, R>
  /** Limits of each chat. Default: none. */
  readonly budget?: Budget
  /**
   * What becomes of a turn that the end of the process cut off, when its conversation is opened again: `close`, the
   * default, ends it with `turn_aborted`; `continue` resumes it.
   */
  readonly onRestart?: "close" | "continue"
  /** How long a question may wait for its answer before it is denied. Default 10 minutes. */
  readonly approvalDeadline?: Duration.Input
  readonly effort?: ReasoningEffort
  readonly verbosity?: Verbosity
  /** Name of the agent: recorded with its conversations, and its name as an MCP server. Default `agent`. */
  readonly name?: string
  /** Version of the agent, likewise. Default `0.0.0`. */
  readonly version?: string
  /** What it does and when to use it, for the models that use it as an MCP server. */
  readonly description?: string
}

type AnyOptions = AgentOptions<ReadonlyArray<AnyTools>, AnyModel, AnyStore, unknown, Machine>

/** What each of `AgentOptions` has to be. */
export const agentKinds: Kinds<AnyOptions> = {
  instructions: text,
  model: modelKind,
  tools: optional(listOf("an array of tools", made("a tool, such as Agent.tool(…)", toolsKey))),
  machine: optional(made("Agent.machine(…)", "~colloquy/agent/Machine")),
  store: optional(storeKind),
  onApproval: optional(func),
  budget: optional(budgetOptions),
  onRestart: optional(oneOf({ literals: ["close", "continue"] })),
  approvalDeadline: optional(duration),
  effort: optional(oneOf(ReasoningEffort)),
  verbosity: optional(oneOf(Verbosity)),
  name: optional(named("a name")),
  version: optional(text),
  description: optional(text),
}

const agentOptions = optionsOf(agentKinds)

/**
 * An agent. `Q` are the questions of its tools, `E` and `R` the errors and services of opening a chat, `T` those of the
 * services that the tools and the policy need.
 */
export interface Agent<Q = never, out E = never, out R = never, out T = R> {
  /** What it is made of; for code that makes another agent of it, or serves it. */
  readonly "~colloquy/agent": AgentRuntime & { readonly "~services"?: T }
  /**
   * Opens the conversation of this name until the scope closes, created or resumed from the store; without a name, a new
   * one. Any text is a name, and a conversation id is one, too.
   *
   * The first chat that is open builds the model and the store, and all later ones share them until the last has closed;
   * the tools of each chat run with the services of its own `open`. Closing the scope interrupts the turns of the chat.
   */
  readonly open: (
    name?: string,
    options?: OpenOptions<Q>,
  ) => Effect.Effect<Chat<Q>, OpenError | E, R | Scope.Scope>
}

/** The agent of a definition. */
export const fromDefinition = <Q, E, R, T = R>(definition: AgentDefinition): Agent<Q, E, R, T> => {
  const runtime = new AgentRuntime(definition)
  const open = (name?: string, options: OpenOptions<Q> = {}) =>
    Effect.suspend(() => {
      checkOptions("agent.open name", optional(text), name)
      checkOptions("agent.open", openOptions, options)
      return openChat(runtime, name, options)
    })
  return {
    "~colloquy/agent": runtime,
    // The definition was made of parts with these questions, errors and services.
    open: open as Agent<Q, E, R>["open"],
  }
}

const checkTools = (tools: ReadonlyArray<AnyTools>, machine: Machine | undefined): void => {
  const option = "Agent.make tools"
  const names = tools.flatMap((one) => one.names)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) {
    throw new BadOption({ option, expected: "tools of different names", got: `\`${twice}\` twice` })
  }
  const taken = machine === undefined ? undefined : machineNameIn(names)
  if (taken === undefined) return
  throw new BadOption({
    option,
    expected: "names that no tool of the machine has",
    got: `\`${taken}\``,
  })
}

/** What is an agent, for functions that take one. */
export const agentKind = made("an agent, such as Agent.make(…)", "~colloquy/agent")

/** Makes an agent. Nothing runs and nothing is opened before its first `open`. Throws `UnknownOption` or `BadOption`. */
export const make = <
  const T extends ReadonlyArray<AnyTools> = readonly [],
  M extends AnyModel = never,
  S extends AnyStore = Layer.Layer<ConversationStore>,
  R = never,
  X extends Machine | undefined = undefined,
>(
  options: AgentOptions<T, M, S, R, X>,
): Agent<
  QuestionsOf<T[number]> | MachineQuestionsOf<X>,
  ModelErrors<M> | StoreErrors<S>,
  ModelServices<M> | StoreServices<S> | ServicesOf<T[number]> | R,
  ServicesOf<T[number]> | R
> => {
  checkOptions("Agent.make", agentOptions, options)
  const { approvalDeadline, instructions, machine, model, tools = [] } = options
  checkTools(tools, machine)
  return fromDefinition({
    name: options.name ?? "agent",
    version: options.version ?? "0.0.0",
    description: options.description,
    instructions,
    model: modelOf(model),
    tools,
    machine,
    store: options.store ?? memory(),
    onApproval: options.onApproval,
    budget: options.budget ?? {},
    onRestart: options.onRestart ?? "close",
    approvalDeadline:
      approvalDeadline === undefined ? undefined : Duration.fromInputUnsafe(approvalDeadline),
    effort: options.effort,
    verbosity: options.verbosity,
    idleTimeToLive: undefined,
  })
}
