/** Methods that submit input to a conversation and subscribe to its events. The wire: packages/docs/wire/app-server.md. */
import * as Schema from "effect/Schema"
import { ChosenSubmissionId } from "../Ids.ts"
import { SystemText } from "../text/SystemText.ts"
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
 * What happens to input while a turn is running: `queue` adds it to the running turn; `steer` does the same and is an error
 * when no turn is running; `wait` starts a new turn after the running one; `interrupt` ends the running turn and starts a
 * new one; `reject` returns an error. Not in the original.
 */
export const WhileRunning = Schema.Literals(["queue", "steer", "wait", "interrupt", "reject"])

const input = {
  items: Schema.Array(InputItem),
  whileRunning: maybe(WhileRunning),
  /** Chosen by the client. Input that is sent again with the same id gets the same response and has no further effect. */
  submissionId: maybe(ChosenSubmissionId),
}

/** The result of submitted input. Empty in the original. */
const Sent = Schema.Struct({
  /** `id` of the events that follow: the id of the turn that the input started or joined. */
  turnId: Schema.String,
  disposition: Schema.Literals(["started", "joined", "waiting", "none"]),
})

/** Submits user input. */
export const SendUserMessage = request("sendUserMessage", {
  params: Schema.Struct({ ...named, ...input }),
  result: Sent,
  cancellable: false,
  since: "0.25",
  doc: "Submits user input. Responds when the input was accepted. While a turn is running the input joins it, unless `whileRunning` says otherwise.",
})

/** Submits user input with settings. */
export const SendUserTurn = request("sendUserTurn", {
  params: Schema.Struct({
    ...named,
    ...input,
    cwd: SystemText,
    approvalPolicy: AskForApproval,
    sandboxPolicy: SandboxPolicy,
    model: Schema.String,
    effort: maybe(ReasoningEffort),
    summary: ReasoningSummary,
  }),
  result: Sent,
  cancellable: false,
  since: "0.25",
  doc: "Submits user input with settings, which apply to its turn and to later ones. Responds when the input was accepted. While a turn is running the input waits for it to end, unless `whileRunning` says otherwise; input that joins a running turn does not change its settings.",
})

/** Interrupts the running turn. */
export const InterruptConversation = request("interruptConversation", {
  params: Schema.Struct(named),
  result: Schema.Struct({
    abortReason: TurnAbortReason,
    /** Id of the interrupted turn; absent when none was running. Not in the original. */
    turnId: Schema.optionalKey(Schema.String),
  }),
  since: "0.25",
  doc: "Interrupts the running turn and discards queued messages. Responds after the event `turn_aborted`, or at once when no turn is running.",
})

/** Subscribes to the events of a conversation. */
export const AddConversationListener = request("addConversationListener", {
  params: Schema.Struct({
    ...named,
    /** True: the listener also receives the items that are exchanged with the model (`raw_response_item`). */
    experimentalRawEvents: maybe(Schema.Boolean),
    /**
     * `seq` of the last event that the client has, -1 for none. The listener receives all later events, then
     * `conversationSynced`, then live events. Without it, the listener receives events that no listener has received yet,
     * then live ones. Not in the original.
     */
    after: maybe(Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1))),
  }),
  result: Schema.Struct({ subscriptionId: Schema.String }),
  cancellable: false,
  since: "0.25",
  doc: "Subscribes to a conversation. Its events follow the response, in order; every listener receives all of them.",
})

/** Ends a subscription. */
export const RemoveConversationListener = request("removeConversationListener", {
  params: Schema.Struct({ subscriptionId: Uuid }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.25",
  doc: "Ends a subscription. No notification for it follows the response.",
})
