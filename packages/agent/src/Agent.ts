/**
 * An agent as a value of a program: instructions, a model, tools of the program, and a store.
 *
 * ```ts
 * const agent = Agent.make({ instructions: "You are a till.", model: Agent.openai("gpt-5"), tools: [refund] })
 * const chat = yield* agent.open("till-1")
 * yield* chat.ask("refund A1").pipe(Stream.runForEach(print))
 * ```
 *
 * The agent has only the tools that it is given, and the model learns nothing about the machine. Everything waits on the
 * `Clock`, so a `TestClock` controls it.
 */
export * from "./AgentErrors.ts"
export type { Decision, OnApproval, Question } from "./Approval.ts"
export type { Budget } from "./Budget.ts"
export type { Chat, ChildOptions, EventsOptions, OpenOptions } from "./Chat.ts"
export { conversationIdOf } from "./ConversationName.ts"
export { BadOption, UnknownOption } from "./internal/OptionErrors.ts"
export {
  chatCompletions,
  type Model,
  model,
  offline,
  type OfflineOptions,
  openai,
  type ProviderOptions,
} from "./Model.ts"
export { serve, type ServeOptions, toMcp } from "./Serve.ts"
export type { Event, EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
export { machine, type Machine, type MachineOptions, type MachineQuestion } from "./Machine.ts"
export { languageModel } from "./LanguageModel.ts"
export { files, memory, type Store } from "./Store.ts"
export {
  type FailuresOf,
  type InputOf,
  tool,
  type ToolCallInfo,
  type ToolInput,
  toolkit,
  type ToolkitQuestions,
  type ToolOptions,
  type Tools,
} from "./Tool.ts"
export type { Ask, AskOptions, Input, Turn, TurnResult } from "./Turn.ts"
export { type Agent, type AgentOptions, make } from "./MakeAgent.ts"
