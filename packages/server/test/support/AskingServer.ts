/** A server with the handlers of the test, for every revision. */
import { Cancelled, CodexMcp, ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import { SubscriptionsListen } from "@colloquy/protocol/mcp/Subscriptions"
import { methodsOf, type Params, type ResultOf } from "@colloquy/protocol/Method"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as TestSealer from "@colloquy/testing/TestSealer"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { initialize } from "../../src/mcp/methods/Initialize.ts"
import type { CoreHandler } from "../../src/mcp/RequestContext.ts"
import { make as makeStates, type RequestStates } from "../../src/mcp/eras/RequestState.ts"
import * as Router from "../../src/mcp/eras/Router.ts"
import * as Session from "../../src/mcp/Session.ts"
import { make as makePeer } from "../../src/jsonrpc/Peer.ts"
import { Sealer } from "../../src/Sealer.ts"
import { read, type WireMessage } from "./Wire.ts"

export type Called = CoreHandler<Params<typeof ToolsCall>, ResultOf<typeof ToolsCall>>

export interface AskingServer {
  readonly messages: ReadonlyArray<WireMessage>
  readonly send: (message: unknown) => Effect.Effect<void>
  readonly quiet: Effect.Effect<void>
  /** Another connection, with another principal. */
  readonly as: (principal: string) => Effect.Effect<AskingServer, never, Scope.Scope>
  /** Ends the server's input. */
  readonly close: Effect.Effect<void>
  /** Sends the request and resolves with its response. */
  readonly ask: (id: unknown, method: string, params: unknown) => Effect.Effect<WireMessage>
}

const serverInfo = { name: "colloquy", title: "Colloquy", version: "0.0.0" }

export const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] })

type AnyHandlers = Readonly<Record<string, unknown>>

const start = (
  handlers: AnyHandlers,
  states: RequestStates,
  principal: string,
): Effect.Effect<AskingServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const [client, connection] = yield* memoryPair(64)
    const session = Session.make("on")
    const requests = {
      initialize: initialize(session, serverInfo, () => ({})),
      ...handlers,
    } as Readonly<Record<string, ReturnType<Router.RouterOptions["handlerOf"]>>>
    const router = Router.make({
      session,
      methods: new Map([
        ...methodsOf(CodexMcp.clientToServer),
        [SubscriptionsListen._tag, SubscriptionsListen],
      ]),
      handlerOf: (method) => requests[method],
      states,
      cancelWork: () => Effect.void,
      onRequest: () => undefined,
      headerFault: () => undefined,
      serverInfo,
      principal,
    })
    const peer = yield* makePeer({
      connection,
      local: CodexMcp.clientToServer,
      handlers: {
        [Cancelled._tag]: ({ requestId }, { peer }) => peer.cancel(requestId),
      },
      withdraw: () => Effect.void,
      ...router,
    })
    yield* Effect.forkScoped(peer.run, { startImmediately: true })
    const messages: Array<WireMessage> = []
    yield* client.receive.pipe(
      Effect.map((frames) => {
        for (const frame of frames) if (frame._tag === "Text") messages.push(read(frame.text))
      }),
      Effect.forever,
      // The peer ends with the end of the input.
      Effect.exit,
      Effect.forkScoped({ startImmediately: true }),
    )
    const quiet = Effect.gen(function* () {
      for (let i = 0; i < 100; i++) yield* Effect.yieldNow
    })
    const send = (message: unknown) => Effect.orDie(client.send([JSON.stringify(message)]))
    return {
      messages,
      send,
      quiet,
      close: client.close,
      as: (other) => start(handlers, states, other),
      ask: (id, method, params) =>
        Effect.gen(function* () {
          yield* send({ jsonrpc: "2.0", id, method, params })
          yield* quiet
          const answer = messages.findLast((one) => one.method === undefined && one.id === id)
          if (answer === undefined) throw new Error(`request ${String(id)} was not answered`)
          return answer
        }),
    }
  })

export const withHandlers = <A, E>(
  handlers: AnyHandlers,
  body: (server: AskingServer) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> =>
  Effect.scoped(
    Effect.gen(function* () {
      const states = makeStates(yield* Sealer)
      return yield* body(yield* start(handlers, states, localPrincipal))
    }),
  ).pipe(Effect.provide(TestSealer.layer))

export const withAsking = <A, E>(
  called: Called,
  body: (server: AskingServer) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> => withHandlers({ [ToolsCall._tag]: called }, body)
