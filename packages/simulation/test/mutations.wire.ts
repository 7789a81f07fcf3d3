/** Faults that are injected into the server. */
import type { Mutation } from "./mutations.ts"

export const wireMutations: ReadonlyArray<Mutation> = [
  {
    law: "L1",
    name: "a response is sent twice",
    file: "packages/server/src/jsonrpc/InFlight.ts",
    find: "const sent = this.send([text], options)",
    replace: "const sent = this.send([text, text], options)",
  },
  {
    law: "L1",
    name: "a cancelled request is answered",
    file: "packages/server/src/jsonrpc/InFlight.ts",
    find: 'entry.state = "cancelled"\n    entry.fiber?.interruptUnsafe()',
    replace: "entry.fiber?.pollUnsafe()",
  },
  {
    law: "L2",
    name: "a result comes before the terminal event",
    file: "packages/server/src/mcp/codex/TurnForwarder.ts",
    find: "yield* this.events.flush",
    replace:
      "if (this.terminal !== undefined) return resultOf(this.threadId, this.terminal, this.error)\n        yield* this.events.flush",
  },
  {
    law: "L4",
    name: "a listener does not get the number of an event that is left out",
    file: "packages/server/src/app/subscriptions/V1Presenter.ts",
    find: "return format.all && !isEphemeral(msg)",
    replace: "return format.all && isEphemeral(msg)",
  },
  {
    law: "L4",
    name: "a client of the original product gets event numbers",
    file: "packages/server/src/app/subscriptions/V1Presenter.ts",
    find: "const numbered = format.all ? { ...to, seq } : to",
    replace: "const numbered = { ...to, seq }",
  },
  {
    law: "L5",
    name: "a listener gets no notification when its conversation cannot be recorded",
    file: "packages/server/src/app/subscriptions/Subscriptions.ts",
    find: "this.takenOver(served, attachment, error) ?? this.suspended(served, attachment, error),",
    replace: "this.takenOver(served, attachment, error) ?? Effect.void,",
  },
  {
    law: "L9",
    name: "requests in flight delay the end of the server",
    file: "packages/server/src/jsonrpc/peer/Drain.ts",
    find: "inFlight.drain(shutdownGrace, outlasted)",
    replace: 'inFlight.drain("1 hour", outlasted)',
  },
  {
    law: "L9",
    name: "an unread error response blocks the reading of input",
    file: "packages/server/src/jsonrpc/Answers.ts",
    find: "if (others.size >= maxWaiting) return work",
    replace: "if (others.size < maxWaiting) return work",
  },
  {
    law: "L13",
    name: "a frame that is not UTF-8 blocks the frames after it",
    file: "packages/server/src/jsonrpc/Peer.ts",
    find: 'return this.onInvalid(unreadable("Parse error: the message is not UTF-8"))',
    replace: "return Effect.never",
  },
]
