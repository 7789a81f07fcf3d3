/** Faults put into the source, each of which the fuzzer has to see: at least one per law that it checks. */
import type { FuzzLaw } from "@colloquy/simulation/fuzz/Edge"

export interface Mutation {
  readonly name: string
  readonly law: FuzzLaw
  readonly edge: string
  /** From the root of the repository. */
  readonly file: string
  /** Occurs once in the file. */
  readonly find: string
  readonly replace: string
}

export const mutations: ReadonlyArray<Mutation> = [
  {
    name: "a request that no handler takes gets no response",
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
    name: "a response is written in two lines",
    law: "L9",
    edge: "app-server-frames",
    file: "packages/protocol/src/JsonRpc.ts",
    find: 'JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} })',
    replace: 'JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }, undefined, 1)',
  },
  {
    name: "requests in flight hold the end of the server",
    law: "L9",
    edge: "codex-mcp-frames",
    file: "packages/server/src/jsonrpc/Peer.ts",
    find: 'inFlight.drain(this.options.shutdownGrace ?? "500 millis", outlasted)',
    replace: 'inFlight.drain("1 hour", outlasted)',
  },
  {
    name: "an error with a code that is no safe integer is a defect",
    law: "L13",
    edge: "codex-mcp-sessions",
    file: "packages/protocol/src/JsonRpc.ts",
    find: "const isCode = Number.isSafeInteger(code)",
    replace: "const isCode = Number.isInteger(code)",
  },
  {
    name: "the reading of a tool server stops at a line with an error",
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
    file: "packages/protocol/src/Method.ts",
    find: "decodeParams: ofParams.decode",
    replace: "decodeParams: (u) => Result.succeed(u ?? {})",
  },
  {
    name: "a handler leaves a fiber behind",
    law: "memory",
    edge: "codex-mcp-frames",
    file: "packages/server/src/mcp/methods/Ping.ts",
    find: "Effect.succeed({})",
    replace: "Effect.as(Effect.forkDetach(Effect.never), {})",
  },
]
