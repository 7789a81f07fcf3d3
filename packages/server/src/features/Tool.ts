/**
 * A tool of an embedder: one definition, from which the list entry, the check of the arguments and the call come.
 * Arguments are checked strictly before `run` sees them; what is wrong is told in the result, where a model can see it.
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
import { internalError, isClientError, messageOf } from "./Outcome.ts"
import { inputOf, nothing, type Output, outputOf } from "./ToolSchemas.ts"

export interface ToolResult {
  /** Absent: the structured content as JSON, or nothing. */
  readonly content?: ReadonlyArray<Content>
  /** Of a tool with an `output`. */
  readonly structuredContent?: unknown
  /** The tool failed, and the content says why, for the model. */
  readonly isError?: boolean
  readonly _meta?: Members
}

/** A text stands for a result with that text alone. */
export type ToolReturn = string | ToolResult

/** A JSON Schema of an object, told to clients to the letter. References must lie inside it. */
export type RawSchema = Members

interface Described {
  /** 1 to 128 of `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly annotations?: ToolAnnotations
  readonly icons?: ReadonlyArray<Icon>
  readonly taskSupport?: TaskSupport
  /** `_meta` of the list entry. */
  readonly meta?: Members
  /** Of the structured content of a successful result; one that does not conform is an internal error. */
  readonly output?: Pure | RawSchema
}

interface Runs<Args, E, R, P> {
  /**
   * What has to be known before the call may become a task: it is asked in the call itself, and `run` gets what this
   * gives. Where the client asks for tasks (2025-11-25) it runs in the task, as the rest.
   */
  readonly prepare?: (args: Args, context: RequestContext) => Effect.Effect<P, E, R>
  readonly run: (
    args: Args,
    context: RequestContext,
    prepared: P,
  ) => Effect.Effect<ToolReturn, E, R>
}

/** Arguments by an effect Schema of an object. */
export interface ToolOptions<A extends Pure, E, R, P = unknown>
  extends Described, Runs<A["Type"], E, R, P> {
  readonly input: A
}

/** Arguments by a JSON Schema; without one the tool takes none. */
export interface RawToolOptions<E, R, P = unknown> extends Described, Runs<Members, E, R, P> {
  readonly input?: RawSchema
}

export interface Tool<R = never> extends Omit<Described, "output"> {
  /** Made when first asked for. So is `outputSchema`. */
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** Why it cannot be registered: a schema that cannot be kept to. */
  readonly problem: string | undefined
  /**
   * Checks the arguments and runs the tool. A `JsonRpcError` of `run` answers the request; any other failure is a
   * result with `isError` and the failure's message; a defect is an internal error, and the server goes on.
   */
  readonly invoke: (
    args: unknown,
    context: RequestContext,
    /** What `prepare` gave, where it ran. */
    prepared?: Option.Option<unknown>,
  ) => Effect.Effect<CallToolResult, JsonRpcError | InputRequired, R>
  /** The first part of the call, for one that may become a task; fails with the result when the call ends there. */
  readonly prepare?: (
    args: unknown,
    context: RequestContext,
  ) => Effect.Effect<Result.Result<unknown, CallToolResult>, JsonRpcError | InputRequired, R>
}

const text = (words: string): CallToolResult["content"] => [{ type: "text", text: words }]

const failed = (message: string): CallToolResult => ({ content: text(message), isError: true })

/** The same JSON stands in the text, for clients that read no structured content. */
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
      Effect.logError(`the result of tool ${name} breaks its schema: ${encoded.failure}`),
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
 * Defines a tool. Nothing runs and nothing is refused here: `Features` does, when the tool is registered.
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
  const begin = (args: Members, context: RequestContext) =>
    prepare === undefined
      ? Effect.succeed(undefined as P)
      : Effect.suspend(() => prepare(args, context))
  const invoke: Tool<R>["invoke"] = (args, context, prepared = Option.none()) => {
    const decoded = input.decode(args)
    if (decoded._tag === "Failure") return Effect.succeed(failed(decoded.failure))
    const known = decoded.success as Members
    return Effect.suspend(() =>
      Option.isSome(prepared) ? Effect.succeed(prepared.value as P) : begin(known, context),
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
    return begin(decoded.success as Members, context).pipe(
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
