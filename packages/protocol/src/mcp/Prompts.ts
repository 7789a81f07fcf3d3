/** Prompts: texts that a person chooses by name and fills in with arguments, and the completion of arguments. */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import { PageParams } from "./Resources.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

const described = {
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
}

/** A prompt in a list. Members that later revisions add (icons, `_meta`) are kept. */
const Prompt = Schema.StructWithRest(
  Schema.Struct({
    ...described,
    arguments: Schema.optionalKey(
      Schema.Array(Schema.Struct({ ...described, required: Schema.optionalKey(Schema.Boolean) })),
    ),
  }),
  [Open],
)

const Content = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Open])

/** Lists prompts. */
export const PromptsList = request("prompts/list", {
  params: PageParams,
  result: Schema.Struct({
    prompts: Schema.Array(Prompt),
    nextCursor: Schema.optionalKey(Schema.String),
    _meta: Meta,
  }),
  since: "2024-11-05",
  capability: "prompts",
  // The list may change at any time, and may differ between clients.
  cache: { ttlMs: 0, scope: "private" },
  doc: "Lists the prompts, in pages.",
})

const Arguments = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/** Makes the messages of a prompt. */
export const PromptsGet = request("prompts/get", {
  params: Schema.StructWithRest(
    Schema.Struct({ name: Schema.String, arguments: Arguments, _meta: Meta }),
    [Open],
  ),
  result: Schema.Struct({
    description: Schema.optionalKey(Schema.String),
    messages: Schema.Array(
      Schema.Struct({ role: Schema.Literals(["user", "assistant"]), content: Content }),
    ),
    _meta: Meta,
  }),
  since: "2024-11-05",
  capability: "prompts",
  mayAsk: true,
  doc: "Makes the messages of a prompt from its arguments.",
})

/** What an argument belongs to: a prompt by its name, or a resource template by its URI template. */
export const CompletionRef = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("ref/prompt"),
    name: Schema.String,
    title: Schema.optionalKey(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("ref/resource"), uri: Schema.String }),
])
/** A decoded `CompletionRef`. */
export type CompletionRef = typeof CompletionRef.Type

/** Completes an argument. */
export const CompletionComplete = request("completion/complete", {
  params: Schema.Struct({
    ref: CompletionRef,
    argument: Schema.Struct({ name: Schema.String, value: Schema.String }),
    /** The arguments that are known already; from 2025-06-18 on. */
    context: Schema.optionalKey(Schema.Struct({ arguments: Arguments })),
    _meta: Meta,
  }),
  result: Schema.Struct({
    completion: Schema.Struct({
      /** At most 100. */
      values: Schema.Array(Schema.String),
      total: Schema.optionalKey(Schema.Int),
      hasMore: Schema.optionalKey(Schema.Boolean),
    }),
    _meta: Meta,
  }),
  since: "2024-11-05",
  capability: "completions",
  doc: "Suggests values for an argument from its beginning.",
})
