/** Faults put into the part of the core that records conversations and brings them back. */
import type { Mutation } from "./mutations.ts"

export const storageMutations: ReadonlyArray<Mutation> = [
  {
    law: "L4",
    name: "what is folded lacks the last event",
    file: "packages/core/src/recovery/LogFold.ts",
    find: "this.log.append(events)",
    replace: "this.log.append(events.length > 4 ? events.slice(0, -1) : events)",
  },
  {
    law: "L3",
    name: "a conversation that is loaded is forgotten when it leaves memory",
    file: "packages/core/src/manager/LoadedConversations.ts",
    find: 'entry.placement = { _tag: "Stored" }',
    replace: 'entry.placement = { _tag: "Removed" }',
  },
  {
    law: "L5",
    name: "a turn that a crash cut off is left open",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: 'turnEnded(current, turn.id, { _tag: "Interrupted" })',
    replace: "nothing(current)",
  },
  {
    law: "L5",
    name: "a listener ends without the reason why nothing can be recorded",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "this.journal.end(lost)",
    replace: "this.journal.end()",
  },
  {
    law: "L6",
    name: "nobody gives up a store that does not answer",
    file: "packages/core/src/store/StoreTimeout.ts",
    find: "const storeBound = Duration.seconds(10)",
    replace: "const storeBound = Duration.seconds(100)",
  },
  {
    law: "L7",
    name: "a question that a crash left open is withdrawn",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: "if (isParkable(state, left)) return park",
    replace: "if (isParkable(state, left) && nowMs < 0) return park",
  },
  {
    law: "L10",
    name: "what cannot be recorded is acknowledged all the same",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "onFailure: (error) => this.lose(error),",
    replace: "onFailure: (error) => Effect.as(Effect.logDebug(error), true),",
  },
  {
    law: "L10",
    name: "a submission that waits is not recorded",
    file: "packages/core/src/decider/LogRecords.ts",
    find: "...(waits ? { op: input.op } : {}),",
    replace: "",
  },
  {
    law: "L10",
    name: "a receipt is forgotten with its process",
    file: "packages/core/src/recovery/LogFold.ts",
    find: "this.receipts = keep({ ...this.receipts, kept }, id, receipt)",
    replace: "this.known.add(receipt.id)",
  },
  {
    law: "L11",
    name: "a call that a crash cut off gets no output",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: "...left.calls.map((open) =>",
    replace: "...left.calls.slice(0, 0).map((open) =>",
  },
  {
    law: "L16",
    name: "a writer goes on that has lost its lease",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "onFailure: (error) => this.lose(error),",
    replace:
      'onFailure: (error) => error._tag === "LeaseLost" ? Effect.succeed(true) : this.lose(error),',
  },
]
