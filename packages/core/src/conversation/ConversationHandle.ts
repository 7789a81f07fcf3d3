/**
 * The interface of a conversation: `Conversation` for its clients, `OwnedConversation` for the code that loads and evicts it.
 * `Conversation.ts` creates one.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { OnTurnCompleted } from "../decider/CompletedTurn.ts"
import type {
  AttachError,
  ConversationClosed,
  ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
  SubmitError,
} from "../ConversationErrors.ts"
import type { ConversationLoad, ConversationObserver } from "../ConversationObserver.ts"
import type { State } from "../decider/State.ts"
import type { WhileRunning } from "../decider/Decision.ts"
import type { Receipt } from "../decider/Receipts.ts"
import type { Listener } from "../listeners/Listener.ts"
import type { TurnRun } from "../listeners/TurnRun.ts"
import type { AttachOptions } from "../listeners/Listeners.ts"
import type { Recovered } from "../recovery/LogFold.ts"
import type { LogWriter } from "../ConversationStore.ts"
import type { LogRecord } from "../LogRecord.ts"
import type { AppendCalls } from "../store/AppendCalls.ts"
import type { Permits } from "./Permits.ts"

/** How an op is submitted; see `Conversation.submit`. */
interface SubmitOptions {
  readonly id?: SubmissionId
  readonly whileRunning?: WhileRunning
  readonly because?: "malformed" | "failed"
}

/** A conversation, as its clients use it. It may be loaded and evicted between two calls. */
export interface Conversation {
  readonly id: ConversationId
  /**
   * Submits an op. Resolves with the receipt once the op is recorded; its events follow the receipt. The receipt's id says
   * which submission's events to follow: the given or generated id, or that of the running turn which the input joined.
   * Fails without any effect.
   *
   * A given `id` makes it idempotent: submitted again, whatever the op, it gives the receipt of the first time and has no
   * effect, however many others were given since. An id that the conversation generated itself is refused.
   * Input without items is accepted without effect; more than 1,024 items or 16 MiB of text are refused with `TooLarge`.
   * `whileRunning` (default `queue`) applies to input only.
   *
   * Input that was submitted with `enqueue` stays in the queue of input until its turn starts: `edit_queued`,
   * `reorder_queue` and `remove_queued` change it, and `start_queued` starts it where no turn runs. They are refused with
   * `NotQueued` for what is not there. The queue is in `state`, and `queue_changed` reports each change of it.
   *
   * `list_mcp_tools` is followed by an `mcp_list_tools_response` event with the receipt's id once the tool servers have
   * responded, whatever turn runs then; a fifth listing at the same time is refused with `TooManyListings`. A listing ends
   * with the conversation only.
   *
   * `exec_approval`, `patch_approval`, `elicitation_answer` and `client_tool_result` answer the pending question with that (call) id, or with that
   * turn's id where the turn has only one. The first answer wins; any other is refused: with `ClosedApproval`,
   * `UnknownApproval`, or `ForeignApproval` for an op of another kind. With `question`, the `seq` of an `Ask`'s event, it
   * answers that question only: a call that asks twice never gets the first answer to its second question. `because` says
   * that the client gave no readable answer: it denies with that reason. `abort` also interrupts the turn; queued input
   * stays queued.
   */
  readonly submit: (op: Op, options?: SubmitOptions) => Effect.Effect<Receipt, SubmitError>
  /**
   * Submits an op and resolves with the end of the turn that its receipt names, for a caller that needs nothing else of the
   * turn. With the `id` of an earlier op it resolves with the end of that one's turn, which may be over: the end is then
   * looked for from the beginning of the log. Interrupted, it leaves the turn running. Fails like `submit` and `attach`, with
   * `ConversationClosed` where the conversation ends before the turn does, and for a conversation from
   * `ConversationManager.refer` like `get`.
   */
  readonly runTurn: (
    op: Op,
    options?: SubmitOptions,
  ) => Effect.Effect<TurnRun, SubmitError | AttachError | NoSuchConversation | ManagerClosed>
  /**
   * Interrupts that submission, running or queued. Resolves at once; its `turn_aborted` follows within a second plus the
   * kill grace of the settings, even when what the turn runs does not stop (L14). No other event of it follows then.
   */
  readonly cancel: (id: SubmissionId) => Effect.Effect<void>
  /**
   * Attaches a listener: delivers the durable events from `from` on (default: the next one), one delta with the text so far
   * for each text in progress, one `Synced`, and then live events. Until the scope closes. Fails, and attaches nothing,
   * where `from` is beyond the next event or too many listeners are attached.
   *
   * A section break among those events follows on one delta with the section that it ends, as long as the section is not
   * recorded. With `lacksTexts`, the default where `from` is absent, the listener first gets the breaks before `from` that end
   * such sections, in the same way: these are the only durable events with a number below `from`.
   *
   * `answers` declares which questions the client of the listener can answer, `true` for all: the listener gets an `Ask`
   * for each, those that are pending on attach behind `Synced`, and the client answers with `exec_approval`,
   * `patch_approval` or `elicitation_answer`. Questions are put while at least one such listener is attached. Otherwise the
   * setting `unattended` decides; a form is declined where the attached listeners answer other questions only. When the
   * last such listener detaches, pending questions stay pending until their deadline, and any client may still answer.
   *
   * With `calls` or `everything` the client runs the tools of the setting `clientTools` and answers with
   * `client_tool_result`. A call fails at once while no such listener is attached, and when the last one detaches.
   */
  readonly attach: (options?: AttachOptions) => Effect.Effect<Listener, AttachError, Scope.Scope>
  /**
   * The events of the conversation as a stream, for programs that embed it: the durable events from `from` on (default: the
   * next one), the text so far of each text in progress as one delta, and live events, each once and in order. Attaches when
   * it is run and detaches when it ends. Ends with the conversation; fails where it cannot attach, or where nothing of the
   * conversation can be recorded any more. A consumer that falls behind by more than 1,024 events or 4 MiB of deltas loses
   * deltas and no durable event, and gets the text so far of a text in progress once more; `attach` marks that place.
   */
  readonly events: (
    options?: Pick<AttachOptions, "from" | "limits">,
  ) => Stream.Stream<Event, AttachError>
  /** The current state. */
  readonly state: Effect.Effect<State, ConversationUnavailable>
  /**
   * Waits until the conversation is loaded, and never loads it: where a listener ended with a reason, this resolves with
   * the next use of the conversation by any caller. Fails once the conversation was removed or archived, or its manager
   * has closed.
   */
  readonly loaded: Effect.Effect<void, ConversationClosed>
}

/** A loaded conversation, as the code that loads and evicts it uses it. */
export interface OwnedConversation extends Conversation {
  readonly state: Effect.Effect<State>
  /** True once no command is accepted any more: the conversation has ended, or nothing can be recorded. */
  readonly isOver: boolean
  /**
   * True where `suspend` would certainly give false at this moment; false while a command in the inbox may end what keeps
   * it busy. Costs nothing, so that conversations in use may be looked at often.
   */
  readonly isBusy: boolean
  /** What the conversation holds at this moment, for whoever measures it. */
  readonly load: ConversationLoad
  /** All durable events so far, in order. */
  readonly durableEvents: Effect.Effect<ReadonlyArray<Event>>
  /** When the durable event with this number was recorded, in milliseconds since the epoch. */
  readonly timeOf: (seq: number) => number
  /**
   * Ends the fiber without any event and gives true, where no turn runs, no input waits, no tools are being listed, no
   * listener is attached and the inbox is empty. Otherwise, and where the conversation has ended, gives false without any
   * effect. A submission at the same time either succeeds or fails with `ConversationClosed`; a listener that attaches
   * later gets the log and the end.
   */
  readonly suspend: Effect.Effect<boolean>
}

/** How the fiber of a conversation ended: regularly, or because it could not record its events. */
export type ConversationEnd =
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Lost"; readonly because: ConversationUnavailable }

/** How a conversation is created or resumed. */
export interface ConversationOptions {
  /** Runs when the fiber has ended, for whatever reason. */
  readonly onClose?: (end: ConversationEnd) => Effect.Effect<unknown>
  /** Runs for every turn that completes. */
  readonly onTurnCompleted?: OnTurnCompleted
  /** Is told of what is committed, and of the end. Default: nobody is. */
  readonly observer?: ConversationObserver
  /** Records every event before it is delivered. Default: nothing is recorded. */
  readonly writer?: LogWriter
  /**
   * The stored conversation to resume; none of its events is delivered a second time. An unfinished turn waits for its
   * answers, is resumed, or is closed with `turn_aborted` (`RecoverTurn.ts`).
   */
  readonly existing?: Recovered
  /**
   * The records of `existing`, where the log of a new conversation is created by its first append: they are recorded with
   * the first records that the conversation makes, as one batch, and not before. Until then nothing of them is delivered,
   * and the conversation may end without a trace.
   */
  readonly unrecorded?: ReadonlyArray<LogRecord>
  /** Faults of the stored log that were repaired: delivered as `warning` events before any other. */
  readonly repairs?: ReadonlyArray<string>
  /** Largest number of attached listeners; one more is refused. Default: 1,024. */
  readonly maxListeners?: number
  /** Limits the turns of all conversations that share it. Default: no limit. */
  readonly permits?: Permits
  /** Limits the time of each append. Conversations that share it share one timer. Default: one of its own. */
  readonly appends?: AppendCalls
}
