/** Faults that are injected into the parts of the core that record and load conversations. */
import type { Mutation } from "./mutations.ts"

export const storageMutations: ReadonlyArray<Mutation> = [
  {
    law: "L4",
    name: "a loaded log lacks its last event",
    file: "packages/core/src/recovery/LogFold.ts",
    find: "this.log.append(events, times)",
    replace: "this.log.append(events.length > 4 ? events.slice(0, -1) : events, times)",
  },
  {
    law: "L3",
    name: "an evicted conversation counts as removed",
    file: "packages/core/src/manager/loaded/LoadedConversations.ts",
    find: "entry.placement = stored",
    replace: 'entry.placement = { _tag: "Removed" }',
  },
  {
    law: "L5",
    name: "a turn that a crash cut off gets no terminal event",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: 'turnEnded(current, turn.id, { _tag: "Interrupted" })',
    replace: "nothing(current)",
  },
  {
    law: "L5",
    name: "a listener ends without the reason why its conversation cannot be recorded",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "this.journal.end(lost)",
    replace: "this.journal.end()",
  },
  {
    law: "L6",
    name: "a call of a store that does not answer times out too late",
    file: "packages/core/src/store/StoreTimeout.ts",
    find: "const storeBound = Duration.seconds(10)",
    replace: "const storeBound = Duration.seconds(100)",
  },
  {
    law: "L7",
    name: "a question that was pending at a crash is withdrawn",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: "if (isParkable(state, left)) return park",
    replace: "if (isParkable(state, left) && nowMs < 0) return park",
  },
  {
    law: "L10",
    name: "events that cannot be recorded are acknowledged",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "onFailure: (error) => this.lose(writer, error),",
    replace: "onFailure: (error) => Effect.as(Effect.logDebug(error), true),",
  },
  {
    law: "L10",
    name: "a queued submission is not recorded",
    file: "packages/core/src/decider/LogRecords.ts",
    find: "...(waits || isQueueChange(input.op) ? { op: input.op } : {}),",
    replace: "...(isQueueChange(input.op) ? { op: input.op } : {}),",
  },
  {
    law: "L10",
    name: "a receipt is not restored after a restart",
    file: "packages/core/src/recovery/LogFold.ts",
    find: "this.receipts = keep(this.receipts, id, receipt)",
    replace: "this.known.add(receipt.id)",
  },
  {
    law: "L11",
    name: "a tool call that a crash cut off gets no output",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: "...left.calls.map((open) =>",
    replace: "...left.calls.slice(0, 0).map((open) =>",
  },
  {
    law: "L16",
    name: "a writer continues after it has lost its lease",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "onFailure: (error) => this.lose(writer, error),",
    replace:
      'onFailure: (error) => error._tag === "LeaseLost" ? Effect.succeed(true) : this.lose(writer, error),',
  },
]
