/** One page of the conversations. */
import type { ListPage, ListQuery } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Dialect } from "./Dialect.ts"
import { folded, type SummaryRow, summaryOf, textColumn } from "./Rows.ts"

/** The filters of a query; all must hold. */
const conditions = (
  sql: SqlClient,
  dialect: Dialect,
  { after, archived = false, cwd, owner, provider, text, withPreview }: ListQuery,
): ReadonlyArray<Fragment> => {
  const found: Array<Fragment> = [sql`archived = ${archived ? 1 : 0}`]
  if (after !== undefined) {
    found.push(sql`(created_at_ms, id) < (${after.createdAtMs}, ${textColumn(after.id)})`)
  }
  if (cwd !== undefined) found.push(sql`cwd = ${textColumn(cwd)}`)
  if (provider !== undefined) found.push(sql`provider = ${textColumn(provider)}`)
  if (owner === null) found.push(sql`owner IS NULL`)
  else if (owner !== undefined) found.push(sql`owner = ${textColumn(owner)}`)
  if (withPreview === true) found.push(sql`preview IS NOT NULL`)
  if (text !== undefined) {
    const sought = folded(text)
    found.push(
      sql.or([
        dialect.contains("coalesce(preview_folded, '')", sought),
        dialect.contains("coalesce(name_folded, '')", sought),
      ]),
    )
  }
  return found
}

/** Lists a page, and reads one row more to see whether there is another page. */
export const listPage = (
  sql: SqlClient,
  dialect: Dialect,
  query: ListQuery,
): Effect.Effect<ListPage, SqlError> =>
  Effect.map(
    sql<SummaryRow>`SELECT meta, updated_at_ms, preview, name, archived FROM colloquy_conversations
      WHERE ${sql.and(conditions(sql, dialect, query))}
      ORDER BY created_at_ms DESC, id DESC LIMIT ${query.limit + 1}`,
    (rows) => {
      const items = rows.slice(0, query.limit).map(summaryOf)
      const last = items.at(-1)?.meta
      return last === undefined || rows.length <= query.limit
        ? { items }
        : { items, next: { createdAtMs: last.createdAtMs, id: last.id } }
    },
  )
