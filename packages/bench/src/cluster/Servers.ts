/** The servers of the benchmark `cluster`, each a process of the built program, and what is asked of them. */
import type { PostgresServer } from "@colloquy/testing/PostgresServer"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Home from "../Home.ts"
import { SoakServer } from "../soak/SoakServer.ts"

/** Where the servers keep their conversations, and what they know of each other. */
export type Kind = "files" | "servers" | "nodes"

/** The built program, and the text of its `config.toml`, which names the provider. */
export interface Program {
  readonly bin: string
  readonly config: string
}

/** Servers of one state directory. */
export interface Servers {
  readonly kind: Kind
  readonly all: ReadonlyArray<SoakServer>
  readonly token: string
}

/** Requests at the same time. */
export const concurrency = 8

/** Starts servers. `database` is the address of an empty one, which servers with files do not use. They are killed with the scope. */
export const startServers = Effect.fnUntraced(function* (
  { bin, config }: Program,
  kind: Kind,
  count: number,
  database: string,
): Effect.fn.Return<Servers, never, Scope.Scope> {
  const store = kind === "servers" ? `conversation_store = ${JSON.stringify(database)}\n` : ""
  const environment = yield* Home.make(`${store}${config}`)
  const args = kind === "nodes" ? ["--cluster", database] : []
  const all: Array<SoakServer> = []
  for (let started = 0; started < count; started++) {
    const server = new SoakServer(bin, environment, args)
    yield* Effect.acquireRelease(
      Effect.promise(() => server.start()),
      () => Effect.promise(() => server.kill()),
    )
    all.push(server)
  }
  const token = readFileSync(join(environment["COLLOQUY_HOME"] ?? "", "http-token"), "utf8").trim()
  return { kind, all, token }
})

/** Resolves when each of so many nodes has shards. */
export const untilShared = (
  postgres: PostgresServer,
  database: string,
  count: number,
): Effect.Effect<void> =>
  Effect.suspend(() => {
    // A report that is older than a second is one of a node that was killed.
    const nodes = postgres.sql(
      "SELECT count(*) FROM colloquy_nodes WHERE shards > 0 AND at > clock_timestamp() - interval '2 seconds'",
      database,
    )
    return Number(nodes) >= count
      ? Effect.void
      : Effect.andThen(Effect.sleep("100 millis"), untilShared(postgres, database, count))
  })

const post = async (url: string, token: string, json: object) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(json),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return JSON.parse(text) as { readonly conversationId: string }
}

/** Creates a conversation on this server, and resolves with its id. */
export const create = (server: SoakServer, token: string): Effect.Effect<string> =>
  Effect.promise(
    async () => (await post(`${server.url}/v1/conversations`, token, {})).conversationId,
  )

/** Resolves with the end of a turn of the conversation, which this server is asked for. */
export const say = (server: SoakServer, token: string, id: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    await post(`${server.url}/v1/conversations/${id}/turns?wait=true`, token, { input: "say word" })
  })

/** Processor time of all servers so far. */
export const cpuMs = ({ all }: Servers): number => all.reduce((sum, one) => sum + one.cpuMs(), 0)
