/**
 * Where a page of conversations ended. Opaque to clients: base64url of a version, a place in the order of creation
 * and the conversation that stood there, so that a cursor that is not ours is told from one of ours. Pure.
 */
import { parseConversationId, type ConversationId } from "@colloquy/protocol/Ids"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

export class BadCursor extends Schema.TaggedError<BadCursor>()("BadCursor", {}) {
  override readonly message = "cursor: expected the nextCursor of an earlier page"
}

export interface Place {
  /** Counts the conversations of a manager as they are made. */
  readonly ordinal: number
  readonly id: ConversationId
}

const form = /^c1:(0|[1-9]\d{0,14}):([0-9a-f-]{36})$/

export const encode = ({ ordinal, id }: Place): string => Base64Url.encode(`c1:${ordinal}:${id}`)

export const decode = (cursor: string): Result.Result<Place, BadCursor> => {
  const text = Result.getOrElse(Base64Url.decodeString(cursor), () => "")
  const [, ordinal, uuid = ""] = form.exec(text) ?? []
  const parsed = parseConversationId(uuid)
  // Not canonical, though it decodes: made by somebody else.
  return "problem" in parsed || encode({ ordinal: Number(ordinal), id: parsed.id }) !== cursor
    ? Result.fail(new BadCursor())
    : Result.succeed({ ordinal: Number(ordinal), id: parsed.id })
}
