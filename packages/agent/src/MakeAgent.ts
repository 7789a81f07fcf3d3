/** The agent as a value, and what it is made of. It owns nothing until a chat of it is open. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { ReasoningEffort, Verbosity } from "@colloquy/protocol/Policy"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { OpenError } from "./AgentErrors.ts"
import type { OnApproval } from "./Approval.ts"
import { type Budget, checkBudget } from "./Budget.ts"
import { type Chat, openKeys, type OpenOptions } from "./Chat.ts"
import type { AgentDefinition } from "./internal/AgentDefinition.ts"
import { AgentRuntime } from "./internal/AgentRuntime.ts"
import { BadOption, checkKeys, checkOption } from "./internal/KnownKeys.ts"
import { openChat } from "./internal/OpenChat.ts"
import { type Machine, machineNameIn, type MachineQuestion } from "./Machine.ts"
import { type AnyModel, type ModelErrors, modelOf, type ModelServices } from "./Model.ts"
import { memory, type StoreErrors, type StoreServices } from "./Store.ts"
import type { AnyTools, QuestionsOf, ServicesOf } from "./Tool.ts"

type AnyStore = Layer.Layer<ConversationStore, unknown, unknown>

/** The questions of the tools of a machine, where there is one. */
type MachineQuestionsOf<X> = X extends Machine ? MachineQuestion : never

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
   * or of the `ask`, a question is denied at once, and the model reads that nobody was there to approve it.
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

const agentKeys: ReadonlyArray<
  keyof AgentOptions<ReadonlyArray<AnyTools>, AnyModel, AnyStore, unknown>
> = [
  "instructions",
  "model",
  "tools",
  "machine",
  "store",
  "onApproval",
  "budget",
  "onRestart",
  "approvalDeadline",
  "effort",
  "verbosity",
  "name",
  "version",
  "description",
]

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
      checkKeys("agent.open", options, openKeys)
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

const isMade = (machine: unknown): boolean =>
  typeof machine === "object" && machine !== null && "~colloquy/agent/Machine" in machine

const checkParts = (instructions: unknown, model: unknown, machine: Machine | undefined): void => {
  checkOption("Agent.make instructions", typeof instructions === "string", "a text", instructions)
  const isModel = typeof model === "object" && model !== null
  checkOption("Agent.make model", isModel, "a model, such as Agent.offline()", model)
  const isMachine = machine === undefined || isMade(machine)
  checkOption("Agent.make machine", isMachine, "Agent.machine(…)", machine)
}

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
  checkKeys("Agent.make", options, agentKeys)
  checkBudget("Agent.make", options.budget)
  const { approvalDeadline, instructions, machine, model, tools = [] } = options
  checkParts(instructions, model, machine)
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
