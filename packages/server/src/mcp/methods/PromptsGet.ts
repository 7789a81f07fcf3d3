/**
 * `prompts/get`: responds with the messages of one prompt. Errors name unknown prompts, unknown arguments and missing
 * arguments.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { PromptsGet as PromptsGetMethod } from "@colloquy/protocol/mcp/Prompts"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import * as Effect from "effect/Effect"
import type { Catalog } from "../../features/Catalog.ts"
import type { Prompt, PromptResult } from "../../features/Prompt.ts"
import { namesOf } from "../../features/Registry.ts"
import type { CoreHandler } from "../RequestContext.ts"
import type { ConnectionCatalog } from "../catalog/ConnectionCatalog.ts"

type Result = ResultOf<typeof PromptsGetMethod>

/** An error for invalid parameters, with `data` for the client's program. */
export const invalid = (message: string, data: Readonly<Record<string, unknown>>) =>
  new JsonRpcError({ code: ErrorCode.invalidParams, message, data })

const suggest = (name: string, known: ReadonlyArray<string>) => {
  const near = nearest(name, known)
  return near === undefined ? "" : `, did you mean '${near}'?`
}

/** Largest number of names that an error lists: few enough for a person to read. */
const maxNamed = 100

/** Finds the prompt of that name. The error suggests a similar name and lists the existing ones. */
export const findPrompt = (
  { prompts }: Catalog,
  name: string,
): Effect.Effect<Prompt, JsonRpcError> => {
  const prompt = prompts.get(name)
  if (prompt !== undefined) return Effect.succeed(prompt)
  const known = namesOf(prompts).slice(0, maxNamed)
  return Effect.fail(invalid(`Unknown prompt '${name}'${suggest(name, known)}`, { prompts: known }))
}

/** The error for an unknown argument, with the known ones. */
export const unknownArgument = (of: string, name: string, known: ReadonlyArray<string>) =>
  invalid(`Unknown argument '${name}' of ${of}${suggest(name, known)}`, {
    argument: name,
    arguments: known,
  })

const faultIn = (
  prompt: Prompt,
  args: Readonly<Record<string, string>>,
): JsonRpcError | undefined => {
  const known = prompt.arguments.map(({ name }) => name)
  const unknown = Object.keys(args).find((name) => !known.includes(name))
  const of = `prompt '${prompt.name}'`
  if (unknown !== undefined) return unknownArgument(of, unknown, known)
  const missing = prompt.arguments
    .filter(({ name, required }) => required === true && !Object.hasOwn(args, name))
    .map(({ name }) => name)
  return missing.length === 0
    ? undefined
    : invalid(`Missing argument '${missing.join("', '")}' of ${of}`, { missing })
}

const wire = (prompt: Prompt, { description, messages }: PromptResult): Result => {
  const text = description ?? prompt.description
  return {
    ...(text === undefined ? {} : { description: text }),
    messages: messages.map(({ content, role }) => ({ role, content: { ...content } })),
  }
}

/** The handler of `prompts/get` of one connection. */
export const promptsGet = ({
  catalog,
  refreshPrompts,
}: ConnectionCatalog): CoreHandler<Params<typeof PromptsGetMethod>, Result> =>
  Effect.fnUntraced(function* ({ arguments: args = {}, name }, context) {
    yield* refreshPrompts
    const prompt = yield* findPrompt(catalog, name)
    const fault = faultIn(prompt, args)
    if (fault !== undefined) return yield* fault
    return wire(prompt, yield* prompt.get(args, context))
  })
