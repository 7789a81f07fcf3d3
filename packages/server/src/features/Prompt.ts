/** Prompts of an embedder: texts that a person picks by name and fills with arguments. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { InputRequired, Members, RequestContext } from "../mcp/RequestContext.ts"
import type { Complete } from "./Completion.ts"
import type { Content, Icon } from "./Content.ts"
import { answered } from "./Outcome.ts"

export interface PromptMessage {
  readonly role: "user" | "assistant"
  readonly content: Content
}

export interface PromptResult {
  readonly description?: string
  readonly messages: ReadonlyArray<PromptMessage>
}

/** A text stands for one message of the user. */
export type PromptReturn = string | PromptResult

export interface PromptArgument<E = unknown, R = never> {
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** Default false. */
  readonly required?: boolean
  readonly complete?: Complete<E, R>
}

interface Described {
  /** 1 to 128 of `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: ReadonlyArray<Icon>
  /** `_meta` of the list entry. */
  readonly meta?: Members
}

export interface PromptOptions<E, R> extends Described {
  /** Without any the prompt takes none. */
  readonly arguments?: ReadonlyArray<PromptArgument<E, R>>
  /** Gets texts alone, by name; what is not required may be absent. */
  readonly run: (
    args: Readonly<Record<string, string>>,
    context: RequestContext,
  ) => Effect.Effect<PromptReturn, E, R>
}

export interface Prompt<R = never> extends Described {
  readonly arguments: ReadonlyArray<PromptArgument<unknown, R>>
  /** A `JsonRpcError` of `run` answers the request; any other failure or a defect is an internal error. */
  readonly get: (
    args: Readonly<Record<string, string>>,
    context: RequestContext,
  ) => Effect.Effect<PromptResult, JsonRpcError | InputRequired, R>
}

const resultOf = (returned: PromptReturn): PromptResult =>
  typeof returned === "string"
    ? { messages: [{ role: "user", content: { type: "text", text: returned } }] }
    : returned

/** Defines a prompt. `Features` refuses what cannot be registered. */
export const prompt = <E, R = never>(options: PromptOptions<E, R>): Prompt<R> => {
  const { arguments: args = [], run, ...described } = options
  return {
    ...described,
    arguments: args,
    get: (given, context) =>
      Effect.suspend(() => run(given, context)).pipe(
        Effect.map(resultOf),
        Effect.catch(answered(`prompt ${options.name}`)),
      ),
  }
}
