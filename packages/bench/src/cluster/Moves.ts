/** How long a conversation takes to continue on another node when its own is killed, or gets SIGTERM. */
import type { PostgresServer } from "@colloquy/testing/PostgresServer"
import * as Effect from "effect/Effect"
import type { SoakServer } from "../soak/SoakServer.ts"
import { create, type Program, say, startServers, untilShared } from "./Servers.ts"

/** How a node ends: killed, or by the signal upon which it hands its conversations over. */
export type End = "killed" | "drained"

const nodes = 2

/** Process ids of the servers that have the lease of a conversation. */
const ownersOf = (postgres: PostgresServer, name: string): ReadonlyArray<string> =>
  postgres
    .sql(
      "SELECT process::json->>'pid' FROM colloquy_holders WHERE token IN (SELECT holder FROM colloquy_conversations)",
      name,
    )
    .split("\n")

/** Resolves with the milliseconds from the end of a node to the end of the next turn, which another node is asked for. */
const move = Effect.fnUntraced(function* (
  { from, to }: { readonly from: SoakServer; readonly to: SoakServer },
  end: End,
  token: string,
  id: string,
) {
  const begun = performance.now()
  const ending = end === "killed" ? from.kill() : from.end()
  yield* say(to, token, id)
  const tookMs = performance.now() - begun
  yield* Effect.promise(() => ending)
  return tookMs
})

/** Ends so many nodes one after the other, each of which has the only conversation. Each is started again. */
export const moves = Effect.fnUntraced(function* (
  program: Program,
  end: End,
  { postgres, name }: { readonly postgres: PostgresServer; readonly name: string },
  count: number,
): Effect.fn.Return<ReadonlyArray<number>> {
  return yield* Effect.gen(function* () {
    const { all, token } = yield* startServers(program, "nodes", nodes, postgres.database(name))
    const took: Array<number> = []
    let id: string | undefined
    while (took.length < count) {
      yield* untilShared(postgres, name, nodes)
      for (const server of all.slice(0, 1)) {
        id ??= yield* create(server, token)
        // The other node, which is asked, may have got the conversation when the first one joined again.
        yield* say(server, token, id)
      }
      const [owner = ""] = ownersOf(postgres, name)
      const from = all.find(({ pid }) => String(pid) === owner)
      const to = all.find((server) => server !== from)
      if (id === undefined || from === undefined || to === undefined) {
        return yield* Effect.die(new Error(`no server has the conversation: ${owner}`))
      }
      took.push(yield* move({ from, to }, end, token, id))
      yield* Effect.promise(() => from.start())
    }
    return took
  }).pipe(Effect.scoped)
})
