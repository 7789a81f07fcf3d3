/**
 * Converts the finished item of `response.output_item.done` to a `ResponseItem`: unknown types and
 * parts are dropped, ids are not kept.
 */
import {
  CustomToolCallItem,
  FunctionCallItem,
  LocalShellCallItem,
  type ResponseItem,
  WebSearchCallItem,
} from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { JsonObject } from "./JsonObject.ts"
import { contentParts, plainItem } from "./PlainItem.ts"

type Reader = (item: unknown) => Result.Result<ResponseItem | undefined, Schema.SchemaError>

const as = <T, E>(
  schema: Schema.Codec<T, E>,
  read: (item: T) => ResponseItem | undefined,
): Reader => {
  const decode = Schema.decodeUnknownResult(schema)
  return (item) => Result.map(decode(item), read)
}

const message = as(
  Schema.Struct({
    role: Schema.String,
    content: Schema.optional(Schema.NullOr(Schema.Array(Schema.Unknown))),
  }),
  ({ role, content }) => ({ type: "message", role, content: contentParts(content ?? []) }),
)

const Summary = Schema.Struct({ type: Schema.Literal("summary_text"), text: Schema.String })
const RawReasoning = Schema.Struct({
  type: Schema.Literals(["reasoning_text", "text"]),
  text: Schema.String,
})

const reasoning = as(
  Schema.Struct({
    summary: Schema.optional(Schema.NullOr(Schema.Array(Summary))),
    content: Schema.optional(Schema.NullOr(Schema.Array(RawReasoning))),
    encrypted_content: Schema.optional(Schema.NullOr(Schema.String)),
  }),
  ({ summary, content, encrypted_content }) => ({
    type: "reasoning",
    summary: summary ?? [],
    ...(content === undefined || content === null || content.length === 0 ? {} : { content }),
    ...(encrypted_content === undefined ? {} : { encrypted_content }),
  }),
)

const SearchAction = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Unknown),
])

/**
 * Absent or empty when the provider gives a call no id; the decoder of the response generates one.
 */
const call_id = Schema.optional(Schema.NullOr(Schema.String))

const functionCall = as(
  Schema.Struct({ ...FunctionCallItem.fields, name: Schema.NonEmptyString, call_id }),
  ({ call_id, ...item }) => ({ ...item, call_id: call_id ?? "" }),
)

const customToolCall = as(
  Schema.Struct({ ...CustomToolCallItem.fields, name: Schema.NonEmptyString, call_id }),
  ({ call_id, ...item }) => ({ ...item, call_id: call_id ?? "" }),
)

const localShellCall = as(
  Schema.Struct({
    ...LocalShellCallItem.fields,
    id: Schema.optional(Schema.NullOr(Schema.String)),
  }),
  // A call without `call_id` is answered by its `id`, as in the original.
  ({ id, call_id, ...item }) => ({ ...item, call_id: call_id ?? id ?? null }),
)

const webSearchCall = as(
  Schema.Struct({
    ...WebSearchCallItem.fields,
    status: Schema.optional(Schema.NullOr(Schema.String)),
    action: Schema.optional(Schema.NullOr(SearchAction)),
  }),
  ({ action, status, type }) => ({
    type,
    ...(status === undefined || status === null ? {} : { status }),
    ...(action === undefined || action === null ? {} : { action }),
  }),
)

const readers = new Map<string, Reader>([
  ["message", message],
  ["reasoning", reasoning],
  ["function_call", functionCall],
  ["custom_tool_call", customToolCall],
  ["local_shell_call", localShellCall],
  ["web_search_call", webSearchCall],
])

/** The types that are a part of the answer. */
const answerTypes: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "local_shell_call",
])
/** True for an item type that is a part of the answer. */
export const isAnswerType = (type: string): boolean => answerTypes.has(type)

/** Reads an item with the schema of its type. */
export const readBySchema = (item: JsonObject): ReturnType<Reader> =>
  readers.get(String(item["type"]))?.(item) ?? Result.succeed(undefined)

/**
 * Undefined for an unknown type. A known type with invalid members is a failure that names them.
 */
export const readItem = (item: JsonObject): ReturnType<Reader> => {
  const plain = plainItem(item)
  return plain === undefined ? readBySchema(item) : Result.succeed(plain)
}
