/**
 * A tool of the embedding program: one definition for the list entry, the check of the arguments and the call. Arguments
 * are checked strictly before `run` gets them; faults are in the result, where a model can read them.
 */
import type { JsonSchema } from "@colloquy/protocol/JsonSchema"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolAnnotations } from "@colloquy/protocol/mcp/CodexTools"
import type { TaskSupport } from "@colloquy/protocol/mcp/Tasks"
import type { Pure } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { InputRequired, Members, RequestContext } from "../mcp/RequestContext.ts"
import type { Content, Icon } from "./Content.ts"
import { internalError } from "../jsonrpc/PeerErrors.ts"
import { isClientError, messageOf } from "./Outcome.ts"
import { inputOf, nothing, type Output, outputOf } from "./ToolSchemas.ts"

/** The result of a tool. */
export interface ToolResult {
  /** Default: the structured content as JSON, or nothing. */
  readonly content?: ReadonlyArray<Content>
  /** For a tool with an `output`, which it must match. */
  readonly structuredContent?: unknown
  /** True: the tool failed, and the content explains the failure to the model. */
  readonly isError?: boolean
  readonly _meta?: Members
}

/** A string is a result with that text only. */
export type ToolReturn = string | ToolResult

/** A JSON Schema of an object, sent to clients unchanged. References must point into the schema itself. */
export type RawSchema = Members

interface Described {
  /** 1 to 128 of the characters `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly icons?: ReadonlyArray<Icon>
  readonly taskSupport?: TaskSupport | undefined
  /** `_meta` of the list entry. */
  readonly meta?: Members
  /** Schema of the structured content of a successful result; a result that does not match is an internal error. */
  readonly output?: Pure | RawSchema
}

interface Runs<Args, E, R, P> {
  /**
   * The part of the work that runs in the call itself, before the call may become a task, such as questions to the client.
   * `run` gets its result. When the client requests the task (2025-11-25), it runs in the task like the rest.
   */
  readonly prepare?: (args: Args, context: RequestContext) => Effect.Effect<P, E, R>
  readonly run: (
    args: Args,
    context: RequestContext,
    prepared: P,
  ) => Effect.Effect<ToolReturn, E, R>
}

/** The definition of a tool whose arguments are decoded by an Effect Schema of an object. */
export interface ToolOptions<A extends Pure, E, R, P = unknown>
  extends Described, Runs<A["Type"], E, R, P> {
  readonly input: A
}

/** The definition of a tool whose arguments are checked by a JSON Schema; without `input` it takes none. */
export interface RawToolOptions<E, R, P = unknown> extends Described, Runs<Members, E, R, P> {
  readonly input?: RawSchema
}

/** A defined tool. */
export interface Tool<R = never> extends Omit<Described, "output"> {
  /** Made at its first use, like `outputSchema`. */
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** Why it cannot be registered: an unusable schema. Undefined for a valid tool. */
  readonly problem: string | undefined
  /**
   * Checks the arguments and runs the tool. A `JsonRpcError` of `run` is the response; any other failure is a
   * result with `isError` and the failure's message; a defect is an internal error, and the server continues.
   */
  readonly invoke: (
    args: unknown,
    context: RequestContext,
    /** The result of `prepare`, if it ran before. */
    prepared?: Option.Option<unknown>,
  ) => Effect.Effect<CallToolResult, JsonRpcError | InputRequired, R>
  /** The first part of a call that may become a task; `Failure` is the result of a call that ends with it. */
  readonly prepare?: (
    args: unknown,
    context: RequestContext,
  ) => Effect.Effect<Result.Result<unknown, CallToolResult>, JsonRpcError | InputRequired, R>
}

const text = (words: string): CallToolResult["content"] => [{ type: "text", text: words }]

const failed = (message: string): CallToolResult => ({ content: text(message), isError: true })

/** The text repeats the structured content as JSON, for clients that read only text. */
const blocks = ({ content, structuredContent }: ToolResult): CallToolResult["content"] => {
  if (content !== undefined) return content.map((block) => ({ ...block }))
  return structuredContent === undefined ? [] : text(JSON.stringify(structuredContent))
}

const wireResult = (
  name: string,
  output: Output | undefined,
  returned: ToolReturn,
): Effect.Effect<CallToolResult, JsonRpcError> => {
  if (typeof returned === "string") return Effect.succeed({ content: text(returned) })
  const { content: _, structuredContent: value, ...rest } = returned
  if (value === undefined) return Effect.succeed({ ...rest, content: blocks(returned) })
  const encoded =
    output === undefined || returned.isError === true
      ? { _tag: "Success" as const, success: value }
      : output.encode(value)
  if (encoded._tag === "Failure") {
    return Effect.andThen(
      Effect.logError(`the result of tool ${name} does not match its schema: ${encoded.failure}`),
      Effect.fail(internalError()),
    )
  }
  const structuredContent = encoded.success as Members
  return Effect.succeed({
    ...rest,
    content: blocks({ ...returned, structuredContent }),
    structuredContent,
  })
}

/**
 * Defines a tool. Runs and checks nothing: the definition is checked when it is registered with `Features`.
 */
export const tool: {
  <A extends Pure, E, R = never, P = unknown>(options: ToolOptions<A, E, R, P>): Tool<R>
  <E, R = never, P = unknown>(options: RawToolOptions<E, R, P>): Tool<R>
} = <E, R, P>(
  options: Described & Runs<Members, E, R, P> & { readonly input?: Pure | RawSchema },
): Tool<R> => {
  const { input: given = nothing, output: promised, prepare, run, ...described } = options
  const input = inputOf(options.name, given)
  const output = promised === undefined ? undefined : outputOf(promised)
  const prepareWith = (args: Members, context: RequestContext) =>
    prepare === undefined
      ? Effect.succeed(undefined as P)
      : Effect.suspend(() => prepare(args, context))
  const invoke: Tool<R>["invoke"] = (args, context, prepared = Option.none()) => {
    const decoded = input.decode(args)
    if (decoded._tag === "Failure") return Effect.succeed(failed(decoded.failure))
    const known = decoded.success as Members
    return Effect.suspend(() =>
      Option.isSome(prepared) ? Effect.succeed(prepared.value as P) : prepareWith(known, context),
    ).pipe(
      Effect.flatMap((ready) => run(known, context, ready)),
      Effect.flatMap((returned) => wireResult(options.name, output, returned)),
      Effect.catch((failure) =>
        isClientError(failure) ? Effect.fail(failure) : Effect.succeed(failed(messageOf(failure))),
      ),
    )
  }
  const first: Tool<R>["prepare"] = (args, context) => {
    const decoded = input.decode(args)
    if (decoded._tag === "Failure") return Effect.succeed(Result.fail(failed(decoded.failure)))
    return prepareWith(decoded.success as Members, context).pipe(
      Effect.map(Result.succeed),
      Effect.catch((failure) =>
        isClientError(failure)
          ? Effect.fail(failure)
          : Effect.succeed(Result.fail(failed(messageOf(failure)))),
      ),
    )
  }
  return {
    ...described,
    get inputSchema() {
      return input.schema
    },
    ...(output === undefined ? {} : { outputSchema: output.schema }),
    get problem() {
      return input.problem ?? output?.problem
    },
    invoke,
    ...(prepare === undefined ? {} : { prepare: first }),
  }
}
