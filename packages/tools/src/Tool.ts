/**
 * One tool of a turn: how it is offered, when it may run beside others, what a call does. `functionTool` makes one of
 * a schema, from which the offered parameters, the decoder and the faults a model is told of come.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import type { ToolCall, ToolContext, ToolResult } from "@colloquy/core/ToolRuntime"
import { parseJson } from "@colloquy/protocol/Json"
import { type JsonSchema, jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

export interface Tool {
  readonly name: string
  /** Undefined: not offered under these settings; a call of it is still answered. */
  readonly spec: (settings: ConversationSettings) => ToolSpec | undefined
  /** True for a call that changes nothing and asks nobody. */
  readonly isReadOnly: (call: ToolCall, settings: ConversationSettings) => boolean
  /** Never fails: what goes wrong is told in the output. */
  readonly run: (call: ToolCall, context: ToolContext) => Effect.Effect<ToolResult>
}

const maxQuotedChars = 200

/** Names that are understood but not offered, by what they mean. */
export type Aliases = Readonly<Record<string, string>>

const isMembers = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** With the offered names; fails where one member was given under two names with two values. */
const renamed = (value: unknown, aliases: Aliases): Result.Result<unknown, string> => {
  if (!isMembers(value)) return Result.succeed(value)
  const members: Record<string, unknown> = { ...value }
  for (const [alias, name] of Object.entries(aliases)) {
    if (!Object.hasOwn(members, alias)) continue
    const given = memberOf(members, alias)
    const known = memberOf(members, name)
    if (given !== undefined && known !== undefined && given !== known) {
      return Result.fail(
        `fields \`${name}\` and \`${alias}\` are two names of one field, expected one of them`,
      )
    }
    delete members[alias]
    if (given !== undefined) members[name] = given
  }
  return Result.succeed(members)
}

/** Decodes what the model wrote; the failure is the text it is told (§6.7). */
export const argumentsOf = <A extends Schema.Codec<unknown, unknown>>(
  tool: {
    readonly name: string
    readonly arguments: A
    readonly inputSchema: Readonly<Record<string, unknown>>
    readonly aliases?: Aliases
  },
  text: string,
): Result.Result<A["Type"], string> => {
  const json = parseJson(text)
  const decoded = Result.isFailure(json)
    ? Result.fail(
        json.failure.reason === "depth"
          ? json.failure.message
          : `expected the JSON text of an object, got ${JSON.stringify(text.slice(0, maxQuotedChars))}`,
      )
    : Result.flatMap(renamed(json.success, tool.aliases ?? {}), (args) =>
        decodeArguments(tool, args),
      )
  return Result.mapError(decoded, (fault) => `failed to parse function arguments: ${fault}`)
}

/** What `functionTool` is made of. */
export interface FunctionToolOptions<A extends Schema.Codec<unknown, unknown>> {
  readonly name: string
  readonly description: string
  readonly arguments: A
  readonly aliases?: Aliases
  /** Default: always. */
  readonly isOffered?: (settings: ConversationSettings) => boolean
  /** Default: never. Asked of a call whose arguments are good. */
  readonly isReadOnly?: (args: A["Type"], settings: ConversationSettings) => boolean
  readonly run: (args: A["Type"], callId: string, context: ToolContext) => Effect.Effect<ToolResult>
}

const inputSchemas = new WeakMap<Schema.Top, JsonSchema>()

/** Tools are made for every turn, the schema of their arguments once. */
const inputSchemaOf = (schema: Schema.Top): JsonSchema => {
  const known = inputSchemas.get(schema)
  if (known !== undefined) return known
  const made = jsonSchemaOf(schema, { closed: true })
  inputSchemas.set(schema, made)
  return made
}

/** A tool that is called with JSON arguments. */
export const functionTool = <A extends Schema.Codec<unknown, unknown>>(
  options: FunctionToolOptions<A>,
): Tool => {
  const { description, name } = options
  const inputSchema = inputSchemaOf(options.arguments)
  const definition = {
    name,
    arguments: options.arguments,
    inputSchema,
    aliases: options.aliases ?? {},
  }
  const spec: ToolSpec = { type: "function", name, description, parameters: inputSchema }
  const decode = (call: ToolCall): Result.Result<A["Type"], string> =>
    call.type === "function_call"
      ? argumentsOf(definition, call.arguments)
      : Result.fail(`failed to parse function arguments: \`${name}\` is called as a function`)
  return {
    name,
    spec: (settings) => ((options.isOffered?.(settings) ?? true) ? spec : undefined),
    isReadOnly: (call, settings) => {
      const args = decode(call)
      return Result.isSuccess(args) && (options.isReadOnly?.(args.success, settings) ?? false)
    },
    run: (call, context) => {
      const args = decode(call)
      return Result.isFailure(args)
        ? Effect.succeed({ output: args.failure })
        : options.run(args.success, call.call_id ?? "", context)
    },
  }
}
