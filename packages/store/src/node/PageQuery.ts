/** The SQL text that selects a page of the index. Pure. */
import type { ListQuery } from "@colloquy/core/ConversationStore"
import type { SQLInputValue } from "node:sqlite"

/** The columns that a row is read from; the others exist for searching. */
export const columns = `folder, conversations.name, updated, archived, preview, meta, bytes, modified, identity, seq, submission, generation, names.name AS title`

/** The conversations with their names. */
export const table = `conversations LEFT JOIN names USING (id)`

type Values = Array<SQLInputValue>

/** The rows that match a query, newest first: one more than the limit when there are more. */
export const pageQuery = (query: ListQuery): { readonly text: string; readonly values: Values } => {
  const conditions = ["archived = ?"]
  const values: Values = [query.archived === true ? 1 : 0]
  const add = (condition: string, ...more: Values) => {
    conditions.push(condition)
    values.push(...more)
  }
  const { after, cwd, owner, provider, withPreview, text } = query
  if (after !== undefined) add("(created, id) < (?, ?)", after.createdAtMs, after.id)
  if (cwd !== undefined) add("cwd = ?", cwd)
  if (provider !== undefined) add("provider = ?", provider)
  if (owner !== undefined) add("json_extract(meta, '$.owner') IS ?", owner)
  if (withPreview === true) add("preview IS NOT NULL")
  if (text !== undefined) {
    const folded = text.toLowerCase()
    add(
      "(instr(coalesce(conversations.folded, ''), ?) > 0 OR instr(coalesce(names.folded, ''), ?) > 0)",
      folded,
      folded,
    )
  }
  return {
    text: `SELECT ${columns} FROM ${table} WHERE ${conditions.join(" AND ")} ORDER BY created DESC, id DESC LIMIT ?`,
    values: [...values, query.limit + 1],
  }
}
