/** Serves the chats of an agent in this dialect, on any connection. */
import type { Agent } from "@colloquy/agent"
import type { Connection } from "@colloquy/protocol/Connection"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Peer from "@colloquy/server/jsonrpc/Peer"
import { Effect, RcMap, Scope, Stream } from "effect"
import { Chats, Delta } from "./Dialect.ts"

const failed = ({ message }: { readonly message: string }) =>
  new JsonRpcError({ code: ErrorCode.internalError, message })

/** Serves until the client ends the connection; the chats that it has opened close then. */
export const serve = Effect.fn("serve")(function* (agent: Agent.Agent, connection: Connection) {
  // Requests run at the same time: those for one name share its chat.
  const chats = yield* RcMap.make({ lookup: (name: string) => agent.open(name) })
  const scope = yield* Effect.scope
  const opened = (name: string) =>
    RcMap.get(chats, name).pipe(Scope.provide(scope), Effect.mapError(failed))

  const { run } = yield* Peer.make({
    connection,
    local: Chats.clientToServer,
    // Requests of this server are never withdrawn: it sends none.
    withdraw: () => Effect.void,
    handlers: {
      "chat/open": ({ name }) =>
        Effect.map(opened(name), ({ id, isResumed }) => ({ conversation: id, isResumed })),
      "chat/ask": ({ message, name }, { peer }) =>
        Effect.gen(function* () {
          const chat = yield* opened(name)
          const turn = yield* chat.ask(message).start
          yield* Stream.runForEach(turn.events, (event) =>
            event.type === "agent_message_delta"
              ? peer.notify(Delta, [{ name, text: event.delta }])
              : Effect.void,
          )
          return { answer: (yield* turn.result).text }
        }).pipe(
          Effect.mapError((error) => (error instanceof JsonRpcError ? error : failed(error))),
        ),
    },
  })
  yield* run
}, Effect.scoped)
