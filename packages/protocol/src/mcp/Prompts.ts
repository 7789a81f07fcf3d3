/** Prompts: texts that a person picks by name and fills with arguments, and what the arguments may be. */
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

/** With what later revisions add: icons, `_meta`. */
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

export const PromptsList = request("prompts/list", {
  params: PageParams,
  result: Schema.Struct({
    prompts: Schema.Array(Prompt),
    nextCursor: Schema.optionalKey(Schema.String),
    _meta: Meta,
  }),
  since: "2024-11-05",
  capability: "prompts",
  // It may change at any time, and may be another for somebody else.
  cache: { ttlMs: 0, scope: "private" },
  doc: "The prompts, a page at a time.",
})

const Arguments = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

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
  doc: "The messages of a prompt with these arguments.",
})

/** A prompt by its name, or a template of resources by its form. */
export const CompletionRef = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("ref/prompt"),
    name: Schema.String,
    title: Schema.optionalKey(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("ref/resource"), uri: Schema.String }),
])
export type CompletionRef = typeof CompletionRef.Type

export const CompletionComplete = request("completion/complete", {
  params: Schema.Struct({
    ref: CompletionRef,
    argument: Schema.Struct({ name: Schema.String, value: Schema.String }),
    /** Arguments that are settled already: from 2025-06-18 on. */
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
  doc: "What a person may mean who has typed the beginning of an argument.",
})
