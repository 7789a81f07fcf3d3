/** Faults that are injected into the server's handling of clients of app-server v2. */
import type { Mutation } from "./mutations.ts"

export const threadMutations: ReadonlyArray<Mutation> = [
  {
    law: "L2",
    name: "what a new turn sends is not held back until its response",
    file: "packages/server/src/thread/methods/TurnStart.ts",
    find: "    hold(threadId)\n    if",
    replace: "    if",
  },
  {
    law: "L4",
    name: "a message ends before all of its text was sent",
    file: "packages/server/src/thread/items/MessageItems.ts",
    find: "text === open.sent\n",
    replace: "text.length > 0\n",
  },
  {
    law: "L4",
    name: "an item that is open when its turn ends stays open",
    file: "packages/server/src/thread/ThreadFold.ts",
    find: "for (const output of ended.outputs) this.add(output, outputs)",
    replace: "",
  },
  {
    law: "L4",
    name: "a declined call does not complete",
    file: "packages/server/src/thread/items/CallItems.ts",
    find: "item === undefined ? [] : [completed(call, item)]",
    replace: "[]",
  },
  {
    law: "L5",
    name: "an interrupted turn is not notified as ended",
    file: "packages/server/src/thread/ThreadFold.ts",
    find: "if (isTerminal(msg) && this.turn?.id === event.id)",
    replace: 'if (msg.type === "task_complete" && this.turn?.id === event.id)',
  },
  {
    law: "L5",
    name: "a subscriber is sent again what the response contains",
    file: "packages/server/src/thread/ThreadConnection.ts",
    find: "after: history.next - 1,",
    replace: "after: Math.max(-1, history.next - 4),",
  },
  {
    law: "L5",
    name: "two requests at the same time subscribe to one thread twice",
    file: "packages/server/src/thread/ThreadConnection.ts",
    find: "Effect.uninterruptible, this.subscribing.withPermits(1)",
    replace: "Effect.uninterruptible",
  },
  {
    law: "L7",
    name: "no client is notified that its question was answered",
    file: "packages/server/src/thread/subscriptions/ThreadPresenter.ts",
    find: ".take(threadId, output.msg.call_id)",
    replace: ".take(threadId, output.msg.type)",
  },
  {
    law: "L11",
    name: "items are read back under another id",
    file: "packages/server/src/thread/ThreadHistory.ts",
    find: ".items.push(output.item)",
    replace: ".items.push({ ...output.item, id: `${output.item.id}-` })",
  },
  {
    law: "L11",
    name: "an answer is not read back",
    file: "packages/server/src/thread/ThreadHistory.ts",
    find: "for (const { atMs, event } of records) {",
    replace:
      'for (const { atMs, event } of records) {\n    if (event.msg.type === "agent_message") continue',
  },
  {
    law: "L13",
    name: "a turn without input starts",
    file: "packages/server/src/thread/methods/TurnStart.ts",
    find: 'if (items.length === 0) return yield* invalid("input must not be empty")',
    replace: "",
  },
  {
    law: "L13",
    name: "an unknown thread is another error than a bad request",
    file: "packages/server/src/thread/ThreadErrors.ts",
    find: "invalid(`invalid thread id: ${problem}`)",
    replace: "badValue(`invalid thread id: ${problem}`)",
  },
]
