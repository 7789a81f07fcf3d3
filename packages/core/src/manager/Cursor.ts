/**
 * Where a page of conversations ended. Opaque to clients: base64url of a version and the place, so that a cursor that is
 * not ours is told from one of ours. Pure.
 */
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { BadCursor } from "../ConversationErrors.ts"
import type { ListPosition } from "../ConversationStore.ts"

const form = /^c2:(0|[1-9]\d{0,14}):([0-9a-f-]{36})$/

export const encode = ({ createdAtMs, id }: ListPosition): string =>
  Base64Url.encode(`c2:${Math.trunc(createdAtMs)}:${id}`)

export const decode = (cursor: string): Result.Result<ListPosition, BadCursor> => {
  const text = Result.getOrElse(Base64Url.decodeString(cursor), () => "")
  const [, createdAt, uuid = ""] = form.exec(text) ?? []
  const parsed = parseConversationId(uuid)
  if ("problem" in parsed) return Result.fail(new BadCursor())
  const place = { createdAtMs: Number(createdAt), id: parsed.id }
  // Not canonical, though it decodes: made by somebody else.
  return encode(place) === cursor ? Result.succeed(place) : Result.fail(new BadCursor())
}
