/** Faults that are injected into the source one at a time, at least one per law that the fuzzer checks: it must detect each. */
import type { FuzzLaw } from "@colloquy/simulation/fuzz/Edge"

/** One fault. */
export interface Mutation {
  /** What goes wrong, as the end of the test title "L13 is violated when …". */
  readonly name: string
  readonly law: FuzzLaw
  /** Name of the edge that detects it. */
  readonly edge: string
  /** Path from the root of the repository. */
  readonly file: string
  /** Occurs once in the file. */
  readonly find: string
  readonly replace: string
}

export const mutations: ReadonlyArray<Mutation> = [
  {
    name: "a request without a handler gets no response",
    law: "L1",
    edge: "codex-mcp-frames",
    file: "packages/server/src/jsonrpc/Peer.ts",
    find: "if (found instanceof JsonRpcError) return refuse(found)",
    replace: "if (found instanceof JsonRpcError) return Effect.void",
  },
  {
    name: "a request that was refused gets a second response",
    law: "L1",
    edge: "app-server-sessions",
    file: "packages/server/src/jsonrpc/Peer.ts",
    find: "if (inFlight.has(id)) return refuse(idInUse(id))",
    replace:
      "if (inFlight.has(id)) return Effect.andThen(refuse(idInUse(id)), refuse(idInUse(id)))",
  },
  {
    name: "a response is written on two lines",
    law: "L9",
    edge: "app-server-frames",
    file: "packages/protocol/src/JsonRpc.ts",
    find: 'JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} })',
    replace: 'JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }, undefined, 1)',
  },
  {
    name: "requests in flight delay the end of the server",
    law: "L9",
    edge: "codex-mcp-frames",
    file: "packages/server/src/jsonrpc/peer/Drain.ts",
    find: "inFlight.drain(shutdownGrace, outlasted)",
    replace: 'inFlight.drain("1 hour", outlasted)',
  },
  {
    name: "an error with a code that is not a safe integer causes a defect",
    law: "L13",
    edge: "codex-mcp-sessions",
    file: "packages/protocol/src/JsonRpc.ts",
    find: "const isCode = Number.isSafeInteger(code)",
    replace: "const isCode = Number.isInteger(code)",
  },
  {
    name: "reading from a tool server stops at a line with an error",
    law: "L13",
    edge: "tool-server-frames",
    file: "packages/tools/src/mcp/LineTransport.ts",
    find: "const bytes = line.bytes + 1",
    replace:
      'if (line.text.includes("error")) return Effect.never\n      const bytes = line.bytes + 1',
  },
  {
    name: "params are used without being decoded",
    law: "L13",
    edge: "app-server-frames",
    file: "packages/protocol/src/MethodCodec.ts",
    find: "decodeParams: ofParams.decode",
    replace: "decodeParams: (u) => Result.succeed(u ?? {})",
  },
  {
    name: "a handler leaks a fiber",
    law: "memory",
    edge: "codex-mcp-frames",
    file: "packages/server/src/mcp/methods/Ping.ts",
    find: "Effect.succeed({})",
    replace: "Effect.as(Effect.forkDetach(Effect.never), {})",
  },
  {
    name: "a request that is refused leaks a fiber",
    law: "memory",
    edge: "http-requests",
    file: "packages/transport-http/src/guard/Guard.ts",
    find: "onFailure: (refusal) => Effect.succeed(refused(refusal)),",
    replace:
      "onFailure: (refusal) => Effect.as(Effect.forkDetach(Effect.never), refused(refusal)),",
  },
  {
    name: "a notification to a session gets a response of JSON-RPC",
    law: "L1",
    edge: "http-requests",
    file: "packages/transport-http/src/mcp/SessionResponses.ts",
    find: "if (isRequestId(id)) session.cancelled(id)\n        return HttpServerResponse.empty({ status: 202 })",
    replace:
      'if (isRequestId(id)) session.cancelled(id)\n        return jsonText(\'{"jsonrpc":"2.0","id":1,"result":{}}\')',
  },
  {
    name: "the origin of a web page is not looked at",
    law: "access",
    edge: "http-headers",
    file: "packages/transport-http/src/guard/Addresses.ts",
    find: "(origin === undefined ? undefined : originFault(origin, host, allowed))",
    replace: "undefined",
  },
  {
    name: "a stream that is continued leaves out one event",
    law: "L4",
    edge: "sse-ids",
    file: "packages/transport-http/src/mcp/SessionResponses.ts",
    find: "this.stream(session, stream, log.attach(number), [], false)",
    replace: "this.stream(session, stream, log.attach((number ?? 0) + 1), [], false)",
  },
  {
    name: "of the messages that arrive together only the first is read",
    law: "L1",
    edge: "websocket-frames",
    file: "packages/transport-http/src/ws/WebSocketConnection.ts",
    find: "Queue.offer(frames, batch.map(frameOf))",
    replace: "Queue.offer(frames, batch.slice(0, 1).map(frameOf))",
  },
]
