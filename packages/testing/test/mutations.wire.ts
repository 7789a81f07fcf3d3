/** Faults put into the server, which speaks with clients. */
import type { Mutation } from "./mutations.ts"

/** Its file is under `packages/server/src`. */
export interface ServerMutation extends Mutation {
  readonly room: "server"
}

export const wireMutations: ReadonlyArray<ServerMutation> = [
  {
    law: "L1",
    name: "a response is sent twice",
    room: "server",
    file: "InFlight.ts",
    find: "const sent = send([text])",
    replace: "const sent = send([text, text])",
  },
  {
    law: "L1",
    name: "a cancelled request is answered",
    room: "server",
    file: "InFlight.ts",
    find: 'entry.state = "cancelled"\n      entry.fiber?.interruptUnsafe()',
    replace: "entry.fiber?.pollUnsafe()",
  },
  {
    law: "L2",
    name: "a result comes before the terminal event",
    room: "server",
    file: "mcp/TurnCall.ts",
    find: "yield* events.flush",
    replace:
      "if (terminal !== undefined) return resultOf(threadId, terminal, error)\n      yield* events.flush",
  },
  {
    law: "L4",
    name: "a listener is not sent the number of an event that it is not sent",
    room: "server",
    file: "app/Deliveries.ts",
    find: "else if (wants.all && !isEphemeral(msg)) run.skip({ ...named, seq })",
    replace: "",
  },
  {
    law: "L4",
    name: "a client of the original's is sent numbers with gaps",
    room: "server",
    file: "app/Deliveries.ts",
    find: "const numbered = wants.all ? { ...named, seq } : named",
    replace: "const numbered = { ...named, seq }",
  },
  {
    law: "L5",
    name: "a listener is sent nothing when its conversation cannot be recorded",
    room: "server",
    file: "app/Subscriptions.ts",
    find: "ConversationUnavailable: lost,",
    replace: "ConversationUnavailable: () => Effect.void,",
  },
  {
    law: "L9",
    name: "requests in flight hold the end of the server",
    room: "server",
    file: "Peer.ts",
    find: 'inFlight.drain(options.shutdownGrace ?? "500 millis", outlasted)',
    replace: 'inFlight.drain(options.shutdownGrace ?? "1 hour", outlasted)',
  },
  {
    law: "L9",
    name: "an error that nobody reads holds the reading",
    room: "server",
    file: "Answers.ts",
    find: "if (waiting.size >= maxWaiting) return work",
    replace: "if (waiting.size < maxWaiting) return work",
  },
  {
    law: "L13",
    name: "a frame that is not UTF-8 holds up those after it",
    room: "server",
    file: "Peer.ts",
    find: 'return onInvalid(unreadable("Parse error: the line is not UTF-8"))',
    replace: "return Effect.never",
  },
]
