/** Which server has which conversation, as the leases in the database say. */
import type { PostgresServer } from "@colloquy/testing/PostgresServer"
import type { ServerNode } from "./ServerNodes.ts"

/** Ids of the processes that have conversations now, by the ids of those. */
export const ownersOf = (server: PostgresServer, address: string): ReadonlyMap<string, number> => {
  const rows = server.sql(
    `SELECT c.id || ' ' || (h.process::json->>'pid') FROM colloquy_conversations AS c
     JOIN colloquy_holders AS h ON h.token = c.holder`,
    new URL(address).pathname.slice(1),
  )
  const pairs = rows.split("\n").map((row) => row.split(" "))
  return new Map(pairs.map(([id = "", pid]) => [id, Number(pid)]))
}

/** The server that has the conversation; undefined where none has it. */
export const ownerOf = (
  owners: ReadonlyMap<string, number>,
  id: string,
  nodes: ReadonlyArray<ServerNode>,
): ServerNode | undefined => nodes.find(({ server: { pid } }) => pid === owners.get(id))
