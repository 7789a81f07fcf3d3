/**
 * Items of the model's history, and user input. The event log stores exactly these shapes. The wires of providers:
 * packages/docs/wire/providers.md.
 */
import * as Schema from "effect/Schema"

/** A part of a text that a client shows in another way, as a file name in place of its path. The model gets the text alone. */
const TextElement = Schema.Struct({
  /** In bytes of UTF-8 of the text. */
  byte_range: Schema.Struct({ start: Schema.Int, end: Schema.Int }),
  placeholder: Schema.optionalKey(Schema.String),
})

const elements = Schema.optionalKey(Schema.Array(TextElement))
/** How closely the client wants the image to be looked at. */
const detail = Schema.optionalKey(Schema.String)

/** What a client gave by name or path. */
const InputReference = Schema.Union([
  Schema.Struct({ type: Schema.Literal("local_image"), path: Schema.String, detail }),
  Schema.Struct({ type: Schema.Literal("skill"), name: Schema.String, path: Schema.String }),
  Schema.Struct({ type: Schema.Literal("mention"), name: Schema.String, path: Schema.String }),
])

/** What clients show in place of the item. The model never gets it. */
const shown = Schema.optionalKey(InputReference)

/** One piece of user input, in the form of the core. */
export const InputItem = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, elements, shown }),
  /** `image_url` is a data URL or an http(s) URL. */
  Schema.Struct({ type: Schema.Literal("image"), image_url: Schema.String, detail, shown }),
  Schema.Struct({ type: Schema.Literal("local_image"), path: Schema.String, detail }),
])

/** One piece of user input as clients show it. An image is named by its index among those of the message. */
export const InputPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, elements }),
  Schema.Struct({ type: Schema.Literal("image"), index: Schema.Int, detail }),
  InputReference,
])
/** A decoded `InputPart`. */
export type InputPart = typeof InputPart.Type
/** A decoded `InputItem`. */
export type InputItem = typeof InputItem.Type

/** A part of a message. */
export const ContentItem = Schema.Union([
  Schema.Struct({ type: Schema.Literal("input_text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("input_image"), image_url: Schema.String }),
  Schema.Struct({ type: Schema.Literal("output_text"), text: Schema.String }),
]).annotate({ identifier: "ContentItem" })
/** A decoded `ContentItem`. */
export type ContentItem = typeof ContentItem.Type

/** A part of what a tool of a client returns to the model. */
export const ToolOutputPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("input_text"), text: Schema.String }),
  /** A data URL. */
  Schema.Struct({ type: Schema.Literal("input_image"), image_url: Schema.String }),
]).annotate({ identifier: "ToolOutputPart" })
/** A decoded `ToolOutputPart`. */
export type ToolOutputPart = typeof ToolOutputPart.Type

/** A message to or from the model. `role` is `user`, `assistant`, `developer` or `system`. */
export const MessageItem = Schema.Struct({
  type: Schema.Literal("message"),
  role: Schema.String,
  content: Schema.Array(ContentItem),
}).annotate({ identifier: "MessageItem" })
/** A decoded `MessageItem`. */
export type MessageItem = typeof MessageItem.Type

/** Reasoning of the model. */
export const ReasoningItem = Schema.Struct({
  type: Schema.Literal("reasoning"),
  summary: Schema.Array(
    Schema.Struct({ type: Schema.Literal("summary_text"), text: Schema.String }),
  ),
  /** Raw reasoning text, where the provider gives it. */
  content: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        type: Schema.Literals(["reasoning_text", "text"]),
        text: Schema.String,
      }),
    ),
  ),
  encrypted_content: Schema.optionalKey(Schema.NullOr(Schema.String)),
}).annotate({ identifier: "ReasoningItem" })
/** A decoded `ReasoningItem`. */
export type ReasoningItem = typeof ReasoningItem.Type

/** A tool call with JSON arguments. */
export const FunctionCallItem = Schema.Struct({
  type: Schema.Literal("function_call"),
  name: Schema.String,
  /** JSON text as the model wrote it; it may not parse. */
  arguments: Schema.String,
  call_id: Schema.String,
}).annotate({ identifier: "FunctionCallItem" })
/** A decoded `FunctionCallItem`. */
export type FunctionCallItem = typeof FunctionCallItem.Type

/** A tool call with a free text as its input. */
export const CustomToolCallItem = Schema.Struct({
  type: Schema.Literal("custom_tool_call"),
  call_id: Schema.String,
  name: Schema.String,
  input: Schema.String,
  status: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "CustomToolCallItem" })
/** A decoded `CustomToolCallItem`. */
export type CustomToolCallItem = typeof CustomToolCallItem.Type

/** A call of the provider's own shell tool. */
export const LocalShellCallItem = Schema.Struct({
  type: Schema.Literal("local_shell_call"),
  call_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
  status: Schema.String,
  action: Schema.StructWithRest(
    Schema.Struct({ type: Schema.Literal("exec"), command: Schema.Array(Schema.String) }),
    [Schema.Record(Schema.String, Schema.Unknown)],
  ),
}).annotate({ identifier: "LocalShellCallItem" })
/** A decoded `LocalShellCallItem`. */
export type LocalShellCallItem = typeof LocalShellCallItem.Type

/** The output of a `function_call`. */
export const FunctionCallOutputItem = Schema.Struct({
  type: Schema.Literal("function_call_output"),
  call_id: Schema.String,
  output: Schema.String,
}).annotate({ identifier: "FunctionCallOutputItem" })
/** A decoded `FunctionCallOutputItem`. */
export type FunctionCallOutputItem = typeof FunctionCallOutputItem.Type

/** The output of a `custom_tool_call`. */
export const CustomToolCallOutputItem = Schema.Struct({
  type: Schema.Literal("custom_tool_call_output"),
  call_id: Schema.String,
  output: Schema.String,
}).annotate({ identifier: "CustomToolCallOutputItem" })
/** A decoded `CustomToolCallOutputItem`. */
export type CustomToolCallOutputItem = typeof CustomToolCallOutputItem.Type

/** A web search that the provider ran. */
export const WebSearchCallItem = Schema.Struct({
  type: Schema.Literal("web_search_call"),
  status: Schema.optionalKey(Schema.String),
  action: Schema.optionalKey(
    Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
      Schema.Record(Schema.String, Schema.Unknown),
    ]),
  ),
}).annotate({ identifier: "WebSearchCallItem" })
/** A decoded `WebSearchCallItem`. */
export type WebSearchCallItem = typeof WebSearchCallItem.Type

/** One item of the history. Other items that a provider sends are not stored. */
export const ResponseItem = Schema.Union([
  MessageItem,
  ReasoningItem,
  FunctionCallItem,
  CustomToolCallItem,
  LocalShellCallItem,
  FunctionCallOutputItem,
  CustomToolCallOutputItem,
  WebSearchCallItem,
]).annotate({ identifier: "ResponseItem" })
/** A decoded `ResponseItem`. */
export type ResponseItem = typeof ResponseItem.Type

/** Tokens of one model request or of a whole conversation. */
export const TokenUsage = Schema.Struct({
  input_tokens: Schema.Int,
  cached_input_tokens: Schema.Int,
  output_tokens: Schema.Int,
  reasoning_output_tokens: Schema.Int,
  total_tokens: Schema.Int,
}).annotate({ identifier: "TokenUsage" })
/** A decoded `TokenUsage`. */
export type TokenUsage = typeof TokenUsage.Type
