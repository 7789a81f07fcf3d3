/** What is said to a conversation and what is heard of it (§3.7). */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import {
  AskForApproval,
  ReasoningEffort,
  ReasoningSummary,
  SandboxPolicy,
  TurnAbortReason,
} from "../Policy.ts"
import { maybe, Uuid } from "./Fields.ts"
import { InputItem } from "./InputItem.ts"

const named = { conversationId: Uuid }

/**
 * What becomes of input while a turn runs: `queue` joins it; `steer` joins it and is an error when none runs; `wait` for a
 * turn of its own after it; `interrupt` it and be the next; `reject` the input. Not in the original.
 */
export const WhileRunning = Schema.Literals(["queue", "steer", "wait", "interrupt", "reject"])

const input = {
  items: Schema.Array(InputItem),
  whileRunning: maybe(WhileRunning),
  /** Chosen by the client: sent again, it is answered again and nothing happens. */
  submissionId: maybe(Schema.String),
}

/** The original's results are empty. */
const Sent = Schema.Struct({
  /** `id` of the events that follow: those of the turn that it began or joined. */
  turnId: Schema.String,
  disposition: Schema.Literals(["started", "joined", "waiting", "none"]),
})

export const SendUserMessage = request("sendUserMessage", {
  params: Schema.Struct({ ...named, ...input }),
  result: Sent,
  cancellable: false,
  since: "0.25",
  doc: "Says something. Answered when it was taken; while a turn runs it joins that turn unless `whileRunning` says otherwise.",
})

export const SendUserTurn = request("sendUserTurn", {
  params: Schema.Struct({
    ...named,
    ...input,
    cwd: Schema.String,
    approvalPolicy: AskForApproval,
    sandboxPolicy: SandboxPolicy,
    model: Schema.String,
    effort: maybe(ReasoningEffort),
    summary: ReasoningSummary,
  }),
  result: Sent,
  cancellable: false,
  since: "0.25",
  doc: "Says something in a turn with settings of its own, which stay for later ones. While a turn runs it waits unless `whileRunning` says otherwise: what joins a running turn leaves its settings alone.",
})

export const InterruptConversation = request("interruptConversation", {
  params: Schema.Struct(named),
  result: Schema.Struct({
    abortReason: TurnAbortReason,
    /** Of the turn that was stopped; absent when none ran. Not in the original. */
    turnId: Schema.optionalKey(Schema.String),
  }),
  since: "0.25",
  doc: "Stops the turn that runs and drops what waits. Answered behind the event `turn_aborted`, or at once when no turn runs.",
})

export const AddConversationListener = request("addConversationListener", {
  params: Schema.Struct({
    ...named,
    /** True: what goes to the model and comes from it is told as well. */
    experimentalRawEvents: maybe(Schema.Boolean),
    /**
     * The last event that the client has, by `seq`; -1 for none: tells of all that came after it, then
     * `conversationSynced`, then what comes. Without it: what nobody has been told of yet. Not in the original.
     */
    after: maybe(Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1))),
  }),
  result: Schema.Struct({ subscriptionId: Schema.String }),
  cancellable: false,
  since: "0.25",
  doc: "Subscribes to a conversation. Its events come behind the answer, in order, to every listener.",
})

export const RemoveConversationListener = request("removeConversationListener", {
  params: Schema.Struct({ subscriptionId: Uuid }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.25",
  doc: "Ends a subscription; nothing of it follows the answer.",
})
