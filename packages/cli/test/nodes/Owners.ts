/** Which server has which conversation, as the leases in the database say; and all that explains a failure of a test. */
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

/** What the database and the servers say at this moment, for whoever looks into a failure. */
export const situation = (
  server: PostgresServer,
  address: string,
  nodes: ReadonlyArray<ServerNode>,
  failure: string,
): string => {
  const query = (statement: string) => {
    try {
      return server.sql(statement, new URL(address).pathname.slice(1))
    } catch (error) {
      return String(error)
    }
  }
  const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(failure)?.[0] ?? ""
  const ofId = `FROM colloquy_conversations WHERE id = '${id}'`
  return [
    `conversation ${id}: ${query(`SELECT log, generation, holder, length, archived ${ofId}`)}`,
    query(
      `SELECT position, seq, generation, left(body, 200) FROM colloquy_records WHERE log IN (SELECT log ${ofId}) ORDER BY position DESC LIMIT 8`,
    ),
    `nodes: ${query("SELECT *, clock_timestamp() - at FROM colloquy_nodes")}`,
    `runners: ${query("SELECT address, healthy, last_heartbeat, now() FROM cluster_runners")}`,
    `holders: ${query("SELECT token, process, until_ms - extract(epoch FROM now()) * 1000 FROM colloquy_holders")}`,
    `locks: ${query("SELECT pid, count(*), granted FROM pg_locks WHERE locktype = 'advisory' GROUP BY pid, granted")}`,
    `sessions: ${query("SELECT pid, state, wait_event, now() - state_change, left(query, 100) FROM pg_stat_activity WHERE application_name = 'colloquy'")}`,
    `messages: ${query("SELECT count(*), count(*) FILTER (WHERE processed) FROM cluster_messages")}`,
    ...nodes.map(({ server: { pid, stderr }, url }) => `${url} (${pid}): ${stderr().slice(-2000)}`),
  ].join("\n")
}
