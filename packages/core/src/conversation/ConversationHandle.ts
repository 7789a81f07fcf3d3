/**
 * What can be done with a conversation, by its clients and by its owner. `Conversation.ts` makes one.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { OnTurnCompleted } from "../decider/CompletedTurn.ts"
import type {
  AttachError,
  ConversationClosed,
  ConversationUnavailable,
  SubmitError,
} from "../ConversationErrors.ts"
import type { State } from "../decider/State.ts"
import type { WhileRunning } from "../decider/Decision.ts"
import type { Receipt } from "../decider/Receipts.ts"
import type { Answers } from "../approvals/Approval.ts"
import type { Listener } from "../listeners/Listener.ts"
import type { ListenerLimits } from "../listeners/Backlog.ts"
import type { Recovered } from "../recovery/LogFold.ts"
import type { LogWriter } from "../ConversationStore.ts"
import type { TurnPermits } from "./TurnPermits.ts"

export interface Conversation {
  readonly id: ConversationId
  /**
   * Hands an op to the conversation. The receipt says which submission's events to follow: the given or automatic
   * id, or that of the running turn it joined. Its events come after the receipt. Fails without any effect.
   *
   * A given id makes it idempotent: repeated, whatever the op, it gives the first's receipt and nothing happens, as
   * long as fewer than 1,024 ids were given since. An id that the conversation gave out itself is refused. Input
   * without items is taken and nothing happens; more than 1,024 items or 16 MiB of text are refused `TooLarge`.
   * `whileRunning` (default `queue`) counts for input alone.
   *
   * `list_mcp_tools` is answered by `mcp_list_tools_response` of the receipt's id, when the tool servers have answered,
   * whatever turn runs then; a fifth at the same time is refused `TooManyListings`. It ends with the conversation only.
   *
   * `exec_approval`, `patch_approval` and `elicitation_answer` answer the open question of that (call) id, or of that turn's id when it is the
   * only one of the turn. The first answer wins; any other is refused: `ClosedApproval`, `UnknownApproval`, or
   * `ForeignApproval` for the op of another kind. With `question`, the `seq` of an `Ask`'s event, it answers that
   * question alone: a call that asks twice never gets the first answer to its second question. `because` says that
   * there was no answer to read: a denial with that reason. `abort` also interrupts the turn; what waits stays.
   */
  readonly submit: (
    op: Op,
    options?: {
      readonly id?: SubmissionId
      readonly whileRunning?: WhileRunning
      readonly because?: "malformed" | "failed"
    },
  ) => Effect.Effect<Receipt, SubmitError>
  /**
   * Stops that submission, running or waiting; acknowledged at once, its `turn_aborted` follows within a second plus
   * the kill grace of the settings, also when what the turn runs does not stop (L14). Nothing else is told of it then.
   */
  readonly cancel: (id: SubmissionId) => Effect.Effect<void>
  /**
   * Listens from durable event `from` on; default: what comes now. Ends with the scope. Fails, and nobody listens,
   * when `from` lies beyond the next event or too many listen already.
   */
  readonly attach: (options?: {
    readonly from?: number
    readonly limits?: ListenerLimits
    /**
     * Declares that the listener can answer these questions, `true` for all: it gets an `Ask` for each, those still open on attach behind
     * `synced`, and answers by `exec_approval`, `patch_approval` or `elicitation_answer`. While at least one such listener is attached,
     * such questions are put; otherwise the setting `unattended` decides, or a form is declined where somebody is there
     * who answers other questions alone. When the last one leaves, what is open stays open until its deadline: it may come
     * back, and anyone may still answer.
     */
    readonly answers?: boolean | Answers
  }) => Effect.Effect<Listener, AttachError, Scope.Scope>
  /** A snapshot. */
  readonly state: Effect.Effect<State, ConversationUnavailable>
  /**
   * Waits until the conversation is in memory and can be used, and never loads it: after the end of a listener with a
   * reason it resolves with the next use by any caller. Fails once the conversation was removed or put away, or its
   * manager is closed.
   */
  readonly loaded: Effect.Effect<void, ConversationClosed>
}

/** What only the owner of a conversation may do with it. */
export interface OwnedConversation extends Conversation {
  readonly state: Effect.Effect<State>
  /** True once nothing more is taken in: it has ended, or nothing can be recorded any more. */
  readonly isOver: boolean
  /** Every durable event so far: a snapshot. */
  readonly events: Effect.Effect<ReadonlyArray<Event>>
  /**
   * When nothing runs, waits, lists tools or listens and nothing unread is in the inbox: ends the fiber without any event
   * and gives true. Otherwise, and of one that has ended, false and nothing happened. A submission that races with it
   * either wins or fails with `ConversationClosed`; a listener that comes later sees the log and its end.
   */
  readonly suspend: Effect.Effect<boolean>
}

/** Why the fiber of a conversation ended: by its own word, or because it could not record what it did. */
type Fate =
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Lost"; readonly because: ConversationUnavailable }

export interface ConversationOptions {
  /** Runs when the fiber has ended, for whatever reason. */
  readonly onClose?: (fate: Fate) => Effect.Effect<unknown>
  readonly onTurnCompleted?: OnTurnCompleted
  /** Where everything is recorded before it happens; without one nothing is. */
  readonly writer?: LogWriter
  /**
   * Goes on from here; no event is told anew. A turn that was left open waits for its answers, is taken up again or is
   * closed with `turn_aborted` (`Reopen.ts`).
   */
  readonly existing?: Recovered
  /** What was wrong with that and was put right: told as `warning`s, first of all. */
  readonly repairs?: ReadonlyArray<string>
  /** One more is refused. Default 1,024. */
  readonly maxListeners?: number
  /** Shared by the conversations whose turns count together; default: no limit. */
  readonly permits?: TurnPermits
}
