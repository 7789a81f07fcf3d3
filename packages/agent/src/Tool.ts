/**
 * Tools of the program for its agent: one function with a schema for its input. The model gets the JSON Schema, the
 * function the decoded input. A function that fails or dies becomes a failure that the model reads; the turn goes on.
 *
 * A tool runs with the services that the `open` of its chat was run with, except that the `Scope` is that of the call: what
 * it acquires is released when the call ends. It knows nothing of the machine.
 */
import type { Pure } from "@colloquy/protocol/Method"
import * as HostTools from "@colloquy/tools/host/HostTools"
import type { Tool as BuiltTool } from "@colloquy/tools/Tool"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type { Question } from "./Approval.ts"
import { BadOption } from "./internal/OptionErrors.ts"
import {
  type Kinds,
  checkOptions,
  flag,
  func,
  is,
  type Kind,
  made,
  optional,
  options as optionsOf,
  recordOf,
  schema,
  text,
} from "./internal/Options.ts"

/** The input of a tool: the fields of a struct, or a schema of an object. */
export type ToolInput = Pure | { readonly [name: string]: Pure }

/** What the function of a tool gets. */
export type InputOf<I> = I extends Pure
  ? I["Type"]
  : I extends Schema.Struct.Fields
    ? Schema.Struct<I>["Type"]
    : never

/** What a tool knows of its call besides the input. */
export interface ToolCallInfo {
  /** Id of the call in the events of its conversation. */
  readonly callId: string
}

/** A tool as a conversation uses it, with the reader of the arguments in its questions. */
export interface ConversationTool {
  readonly tool: BuiltTool
  /** The decoded input of a question of this tool, whose arguments were checked before it was asked. */
  readonly inputOf: (encoded: unknown) => unknown
}

/** The key that only tools have. */
export const toolsKey = "~colloquy/agent/Tools"

/** One or several tools of an agent. `Q` are the questions that they ask, `E` and `R` errors and services of the functions. */
export interface Tools<out Q, out E, out R> {
  readonly "~colloquy/agent/Tools": {
    readonly _Q: (_: never) => Q
    readonly _E: (_: never) => E
  }
  /** Names by which the model calls them. */
  readonly names: ReadonlyArray<string>
  /** Makes the tools of one chat, with the services at hand. */
  readonly build: Effect.Effect<ReadonlyArray<ConversationTool>, never, R>
}

/**
 * Tools of any kind. Has no member from whose type TypeScript could infer services: a tool that is defined inside of the
 * array of an agent's tools would otherwise seem to need unknown ones.
 */
export interface AnyTools {
  readonly "~colloquy/agent/Tools": unknown
  readonly names: ReadonlyArray<string>
}

/** The questions of these tools. */
export type QuestionsOf<T> = T extends Tools<infer Q, infer _E, infer _R> ? Q : never
/** The failures of their functions. The model reads them; no turn fails with them. */
export type FailuresOf<T> = T extends Tools<infer _Q, infer E, infer _R> ? E : never
/** The services that their functions need. */
export type ServicesOf<T> = T extends Tools<infer _Q, infer _E, infer R> ? R : never

/** The definition of a tool. */
export interface ToolOptions<I extends ToolInput, O extends Pure, E, R, R2 = never> {
  /** What the tool does and when to use it, for the model. Default: the name. */
  readonly description?: string
  /** Default: no input. */
  readonly input?: I
  /** Schema of the result. Default: any JSON value. */
  readonly output?: O
  /**
   * Whether a person or a policy has to approve a call: always, never (the default), or by its input. A rule that fails
   * counts as yes.
   */
  readonly approve?: boolean | ((input: InputOf<I>) => boolean | Effect.Effect<boolean, never, R2>)
  /** True: a call changes nothing, and may run at the same time as others that change nothing. Default false. */
  readonly readOnly?: boolean
  readonly run: (input: InputOf<I>, call: ToolCallInfo) => Effect.Effect<O["Type"], E, R>
}

const inputExpected = "the fields of an object, or the schema of one"

const fieldsKind = recordOf(inputExpected, schema)

const toolOptions = optionsOf({
  description: optional(text),
  input: optional((value) => (Schema.isSchema(value) ? undefined : fieldsKind(value))),
  output: optional(schema),
  approve: optional(
    is(
      "true, false or a function",
      (value) => typeof value === "boolean" || typeof value === "function",
    ),
  ),
  readOnly: optional(flag),
  run: func,
} satisfies Kinds<ToolOptions<ToolInput, Pure, unknown, unknown>>)

/** The fields of a struct; undefined for any other schema. */
const fieldsOf = (input: ToolInput): unknown => {
  if (!Schema.isSchema(input)) return input
  return "fields" in input ? input.fields : undefined
}

const schemaOf = (input: ToolInput = {}): Pure => {
  const fields = fieldsOf(input)
  const isEmpty = typeof fields === "object" && fields !== null && Object.keys(fields).length === 0
  // The schema of a struct without fields also accepts arrays, so that no provider takes it.
  if (isEmpty) return AiTool.EmptyParams
  return Schema.isSchema(input) ? input : Schema.Struct(input)
}

const inputReader =
  (schema: Schema.Constraint) =>
  (encoded: unknown): unknown =>
    Schema.isSchema(schema) ? Schema.decodeUnknownSync(schema as Pure)(encoded) : encoded

const phantom = { _Q: (_: never): never => _, _E: (_: never): never => _ }

const effect = is("an Effect", Effect.isEffect)

/** The function of a tool as a handler of a toolkit, with these services. */
const handlerOf =
  <Input, A, E, R>(
    name: string,
    run: (input: Input, call: ToolCallInfo) => Effect.Effect<A, E, R>,
    services: Context.Context<R>,
  ) =>
  (input: Input, { toolCallId = "" }: { readonly toolCallId?: string }) =>
    Effect.suspend(() => {
      const result = run(input, { callId: toolCallId })
      checkOptions(`the result of Agent.tool("${name}") run`, effect, result)
      return result
    }).pipe(Effect.scoped, Effect.provideContext(services))

/** Makes the tool of one chat: its function and its rule run with the services at hand. */
const buildTool = <I extends ToolInput, O extends Pure, E, R, R2>(
  name: string,
  {
    approve = false,
    description,
    input: given,
    output,
    readOnly,
    run,
  }: ToolOptions<I, O, E, R, R2>,
): Effect.Effect<ReadonlyArray<ConversationTool>, never, R | R2> =>
  Effect.gen(function* () {
    const services = yield* Effect.context<R | R2>()
    // The model writes JSON: a date, for example, is a text to it.
    const parameters = Schema.toCodecJson(schemaOf(given))
    const needsApproval = (input: InputOf<I>) => {
      const answer = typeof approve === "function" ? approve(input) : approve
      return Effect.isEffect(answer)
        ? Effect.provideContext(Effect.scoped(answer), services)
        : answer
    }
    const ai = AiTool.make(name, {
      description: description ?? name,
      parameters,
      success: output === undefined ? Schema.Unknown : Schema.toCodecJson(output),
      failure: Schema.Unknown,
      needsApproval: typeof approve === "function" ? needsApproval : approve,
    }).annotate(AiTool.Readonly, readOnly ?? false)
    const toolkit = Toolkit.make(ai)
    const handler = handlerOf(name, run, services)
    // The one handler of the one tool; its services are provided above.
    const handlers = (yield* toolkit.toHandlers({
      [name]: handler,
    } as never)) as Context.Context<never>
    const built = yield* HostTools.fromToolkit(toolkit).pipe(
      Effect.provideContext(handlers),
    ) as Effect.Effect<ReadonlyArray<BuiltTool>>
    return built.map((one) => ({ tool: one, inputOf: inputReader(parameters) }))
  })

/** Names that every provider accepts. */
const toolName: Kind = is(
  "1 to 64 of the characters a-z A-Z 0-9 _ -",
  (value) => typeof value === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(value),
)

const checkInput = (name: string, input: ToolInput | undefined): void => {
  const { type } = AiTool.getJsonSchemaFromSchema(schemaOf(input))
  if (type === "object") return
  const got = `a schema of ${typeof type === "string" ? type : "several types"}`
  throw new BadOption({ option: `Agent.tool("${name}") input`, expected: inputExpected, got })
}

/** Defines a tool. Throws `UnknownOption`, or `BadOption` for a name or an input that no provider accepts. */
export const tool = <
  const Name extends string,
  const I extends ToolInput = Schema.Struct<{}>,
  O extends Pure = Schema.Codec<unknown>,
  E = never,
  R = never,
  R2 = never,
>(
  name: Name,
  options: ToolOptions<I, O, E, R, R2>,
): Tools<Question<Name, InputOf<I>>, E, R | R2> => {
  checkOptions("Agent.tool name", toolName, name)
  checkOptions(`Agent.tool("${name}")`, toolOptions, options)
  checkInput(name, options.input)
  return { "~colloquy/agent/Tools": phantom, names: [name], build: buildTool(name, options) }
}

const toolkitKind = made("a Toolkit of effect/ai", "~effect/ai/Toolkit")

/** The questions that the tools of a toolkit ask. */
export type ToolkitQuestions<T extends Record<string, AiTool.Any>> = {
  readonly [K in keyof T]: Question<T[K]["name"], AiTool.Parameters<T[K]>>
}[keyof T]

/**
 * The tools of an `effect/ai` `Toolkit`. Its handlers are services of the program, as with any other use of the toolkit; a
 * tool with `needsApproval` asks.
 */
export const toolkit = <T extends Record<string, AiTool.Any>>(
  tools: Toolkit.Toolkit<T>,
): Tools<
  ToolkitQuestions<T>,
  AiTool.Failure<T[keyof T]>,
  AiTool.HandlersFor<T> | AiTool.HandlerServices<T[keyof T]>
> => {
  checkOptions("Agent.toolkit", toolkitKind, tools)
  const known = Object.values(tools.tools)
  for (const { name } of known) checkOptions("Agent.toolkit name of a tool", toolName, name)
  return {
    "~colloquy/agent/Tools": phantom,
    names: known.map(({ name }) => name),
    build: Effect.map(HostTools.fromToolkit(tools), (built) =>
      built.map((one, i) => ({
        tool: one,
        inputOf: inputReader(known[i]?.parametersSchema as Schema.Constraint),
      })),
    ),
  }
}
