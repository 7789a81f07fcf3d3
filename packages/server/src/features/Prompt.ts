/** Prompts of the embedding program: texts that a person chooses by name and completes with arguments. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { InputRequired, Members, RequestContext } from "../mcp/RequestContext.ts"
import type { Complete } from "./Completion.ts"
import type { Content, Icon } from "./Content.ts"
import { toClientError } from "./Outcome.ts"

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant"
  readonly content: Content
}

/** A prompt with its arguments filled in. */
export interface PromptResult {
  /** Default: the description of the prompt. */
  readonly description?: string
  readonly messages: ReadonlyArray<PromptMessage>
}

/** A string is one message of the user. */
export type PromptReturn = string | PromptResult

/** An argument of a prompt. Its value is always a string. */
export interface PromptArgument<E = unknown, R = never> {
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** Default false. */
  readonly required?: boolean
  /** Values that clients offer for it. Default: none. */
  readonly complete?: Complete<E, R>
}

interface Described {
  /** 1 to 128 of the characters `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: ReadonlyArray<Icon>
  /** `_meta` of the list entry. */
  readonly meta?: Members
}

/** The definition of a prompt. */
export interface PromptOptions<E, R> extends Described {
  /** Default: none. */
  readonly arguments?: ReadonlyArray<PromptArgument<E, R>>
  /** Makes the messages. Gets the arguments by name; those that are not required may be absent. */
  readonly run: (
    args: Readonly<Record<string, string>>,
    context: RequestContext,
  ) => Effect.Effect<PromptReturn, E, R>
}

/** A defined prompt. */
export interface Prompt<R = never> extends Described {
  readonly arguments: ReadonlyArray<PromptArgument<unknown, R>>
  /** A `JsonRpcError` of `run` is the response to the request; any other failure, or a defect, is an internal error. */
  readonly get: (
    args: Readonly<Record<string, string>>,
    context: RequestContext,
  ) => Effect.Effect<PromptResult, JsonRpcError | InputRequired, R>
}

const resultOf = (returned: PromptReturn): PromptResult =>
  typeof returned === "string"
    ? { messages: [{ role: "user", content: { type: "text", text: returned } }] }
    : returned

/** Defines a prompt. It is checked when it is registered with `Features`. */
export const prompt = <E, R = never>(options: PromptOptions<E, R>): Prompt<R> => {
  const { arguments: args = [], run, ...described } = options
  return {
    ...described,
    arguments: args,
    get: (given, context) =>
      Effect.suspend(() => run(given, context)).pipe(
        Effect.map(resultOf),
        Effect.catch(toClientError(`prompt ${options.name}`)),
      ),
  }
}
