/** What a conversation does for its observer, apart from `ConversationActor`, which does nothing of it without one. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import type { ConversationLoad, ConversationObserver } from "../ConversationObserver.ts"
import type { Decision, Input } from "../decider/Decision.ts"
import type { Command, Inbox } from "./Inbox.ts"
import type { Journal } from "./Journal.ts"

/** What the conversation holds at this moment. */
export const loadOf = ({ current, listeners }: Journal, inbox: Inbox): ConversationLoad => ({
  isRunning: current.turn !== undefined,
  pendingQuestions: current.approvals.open.length,
  queuedInputs: current.waiting.length,
  unreadCommands: inbox.size,
  listeners: listeners.size,
  longestLag: listeners.longestLag,
})

/** Puts an input into the inbox as `Inbox.ask` does, with the span of the caller where there is an observer. */
export const ask = (
  inbox: Inbox,
  observer: ConversationObserver | undefined,
  input: Input,
): ReturnType<Inbox["ask"]> =>
  observer === undefined
    ? inbox.ask(input)
    : Effect.withFiber(({ context }) =>
        inbox.ask(input, Context.getOrUndefined(context, Tracer.ParentSpan)),
      )

/** Submissions whose receipts name a turn. */
const turnOps: ReadonlySet<string> = new Set([
  "user_input",
  "user_turn",
  "compact",
  "run_user_shell_command",
])

/** Tells the observer who submitted what a turn will contain. */
export const observeSubmission = (
  observer: ConversationObserver,
  id: ConversationId,
  { caller, input }: Extract<Command, { readonly input: Input }>,
  { receipt }: Decision,
): void => {
  if (caller === undefined || receipt === undefined || input._tag !== "Submit") return
  if (turnOps.has(input.op.type)) observer.submitted(id, receipt.id, caller)
}
