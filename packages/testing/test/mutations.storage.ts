/** Faults put into the part of the core that stores conversations and brings them back. */
import type { Mutation } from "./mutations.ts"

export const storageMutations: ReadonlyArray<Mutation> = [
  {
    law: "L4",
    name: "what is stored lacks the last event",
    file: "ConversationManagerResidents.ts",
    find: "const kept = { settings, receipts, events }",
    replace: "const kept = { settings, receipts, events: events.slice(0, -1) }",
  },
  {
    law: "L3",
    name: "a conversation that the store did not take is let go",
    file: "ConversationManagerResidents.ts",
    find: "const saved = yield* Effect.exit(storage.save(entry, kept))",
    replace: "const saved = yield* Effect.exit(whatever(storage.save(entry, kept)))",
  },
  {
    law: "L5",
    name: "a turn that a crash cut off is left open",
    file: "Restore.ts",
    find: '{ id: state.turn.id, msg: { type: "turn_aborted", reason: "interrupted" } },',
    replace: "",
  },
  {
    law: "L7",
    name: "a question that a crash left open stays open",
    file: "Restore.ts",
    find: "...questions.flatMap(({ id, msg }) =>",
    replace: "...questions.slice(0, 0).flatMap(({ id, msg }) =>",
  },
  {
    law: "L6",
    name: "a manager waits for a store that does not say what it has",
    file: "ConversationManager.ts",
    find: 'yield* ask("list", store.list).pipe(',
    replace: "yield* store.list.pipe(",
  },
]
