/**
 * One tool of a turn: how it is offered, when it may run concurrently with others, what a call does. `functionTool`
 * creates one from a schema, from which the offered parameters, the decoder and the error texts for the model are
 * derived.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ReplayClass } from "@colloquy/core/LogRecord"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import {
  refusedCall,
  type ToolCall,
  type ToolContext,
  type ToolResult,
  type TurnTools,
} from "@colloquy/core/ToolRuntime"
import { parseJson } from "@colloquy/protocol/Json"
import { type JsonSchema, jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/** A tool that the model can call. */
export interface Tool {
  /** Name by which the model calls the tool. */
  readonly name: string
  /** Its specification for the model; undefined: not offered under these settings, but a call still gets an output. */
  readonly spec: (settings: ConversationSettings) => ToolSpec | undefined
  /** True for a call that changes nothing and needs no approval: it may run concurrently with others. */
  readonly isReadOnly: (call: ToolCall, settings: ConversationSettings) => boolean
  /** True: it asks a person, and is offered only while a connected client can answer. */
  readonly asksPerson?: true
  /** See `TurnTools.replayOf`. */
  readonly replay?: ReplayClass
  /** For a tool of the embedding application; see `TurnTools.questionOf`. */
  readonly questionOf?: TurnTools["questionOf"]
  /** Runs a call. Never fails: an error is part of the output. */
  readonly run: (call: ToolCall, context: ToolContext) => Effect.Effect<ToolResult>
}

/** Characters of the model's text that an error message quotes. */
const maxQuotedChars = 200

/** Alternative names of members that are accepted but not offered, with the offered names. */
export type Aliases = Readonly<Record<string, string>>

const isMembers = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The members under their offered names. Fails when one was given under two names with different values. */
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

/** Decodes the arguments of a call; the failure is the text that the model reads. */
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

/** What `functionTool` needs. */
export interface FunctionToolOptions<A extends Schema.Codec<unknown, unknown>> {
  readonly name: string
  readonly description: string
  /** How the arguments are decoded and described to the model. */
  readonly arguments: ToolArguments<A>
  /** Other names of arguments that models use, each with the name that it means. */
  readonly aliases?: Aliases
  /** Whether it is offered under these settings. Default: always. */
  readonly isOffered?: (settings: ConversationSettings) => boolean
  /** Whether a call with valid arguments changes nothing. Default: never. */
  readonly isReadOnly?: (args: A["Type"], settings: ConversationSettings) => boolean
  /** Runs one call. Never fails: an error is part of the output. */
  readonly run: (args: A["Type"], callId: string, context: ToolContext) => Effect.Effect<ToolResult>
}

/** The arguments of a tool: the schema that decodes them, and the JSON Schema that the model reads. */
export interface ToolArguments<A extends Schema.Codec<unknown, unknown>> {
  readonly schema: A
  /** The same as a JSON schema, for the model. */
  readonly inputSchema: JsonSchema
}

/** Derives the JSON Schema of arguments. To be called once per tool, because tools are created for every turn. */
export const toolArguments = <A extends Schema.Codec<unknown, unknown>>(
  schema: A,
): ToolArguments<A> => ({ schema, inputSchema: jsonSchemaOf(schema, { closed: true }) })

/** A tool that is called with JSON arguments. */
export const functionTool = <A extends Schema.Codec<unknown, unknown>>(
  options: FunctionToolOptions<A>,
): Tool => {
  const { description, name } = options
  const { inputSchema, schema } = options.arguments
  const definition = {
    name,
    arguments: schema,
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
        ? Effect.succeed(refusedCall(args.failure))
        : options.run(args.success, call.call_id ?? "", context)
    },
  }
}
