/**
 * Cursors of a paged list: where a page ended. Opaque to clients: base64url of a version and the position, in the one
 * spelling that `encode` produces, so that a cursor of another origin is recognized. Pure.
 */
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { BadCursor } from "../../ConversationErrors.ts"
import type { ListPosition } from "../../ConversationStore.ts"

/** Version, time in milliseconds, id. */
const form = /^c2:(0|[1-9]\d{0,14}):([0-9a-f-]{36})$/

/** The cursor of the page that starts behind this position. */
export const encode = ({ createdAtMs, id }: ListPosition): string =>
  Base64Url.encode(`c2:${Math.trunc(createdAtMs)}:${id}`)

/** The position that a cursor names. Fails for every text that `encode` does not produce. */
export const decode = (cursor: string): Result.Result<ListPosition, BadCursor> => {
  const text = Result.getOrElse(Base64Url.decodeString(cursor), () => "")
  const [, createdAt, uuid = ""] = form.exec(text) ?? []
  const parsed = parseConversationId(uuid)
  if ("problem" in parsed) return Result.fail(new BadCursor())
  const position = { createdAtMs: Number(createdAt), id: parsed.id }
  // It decodes, but it is not canonical: this server did not produce it.
  return encode(position) === cursor ? Result.succeed(position) : Result.fail(new BadCursor())
}
