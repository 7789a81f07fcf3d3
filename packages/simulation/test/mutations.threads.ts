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
    find: "return requestId === undefined\n",
    replace: "return requestId !== output\n",
  },
  {
    law: "L11",
    name: "items are read back under another id",
    file: "packages/server/src/thread/ThreadHistory.ts",
    find: ".items.push(output.item)",
    replace: ".items.push({ ...output.item, id: `${output.item.id}-` })",
  },
  {
    law: "L13",
    name: "an unknown thread is another error than a bad request",
    file: "packages/server/src/thread/ThreadErrors.ts",
    find: "invalid(`invalid thread id: ${problem}`)",
    replace: "badValue(`invalid thread id: ${problem}`)",
  },
]
