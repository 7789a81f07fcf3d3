/** `completion/complete`: suggests values for an argument of a prompt or a variable of a template, at most 100. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type {
  CompletionComplete as CompletionCompleteMethod,
  CompletionRef,
} from "@colloquy/protocol/mcp/Prompts"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Catalog } from "../../features/Catalog.ts"
import type { Complete, Completions } from "../../features/Completion.ts"
import { toClientError } from "../../features/Outcome.ts"
import { namesOf } from "../../features/Registry.ts"
import { findPrompt, invalid, unknownArgument } from "./PromptsGet.ts"
import type { CoreHandler } from "../RequestContext.ts"
import type { ConnectionCatalog } from "../catalog/ConnectionCatalog.ts"

type Result = ResultOf<typeof CompletionCompleteMethod>

/** Largest number of values in one response, as the specification sets it. */
const maxValues = 100

const isList = (u: Completions): u is ReadonlyArray<string> => Array.isArray(u)

const bounded = (completions: Completions): Result["completion"] => {
  const all = isList(completions) ? { values: completions, total: completions.length } : completions
  const values = all.values.slice(0, maxValues)
  const total = all.total
  const hasMore =
    all.values.length > maxValues || (isList(completions) ? false : completions.hasMore === true)
  return {
    values,
    ...(total === undefined ? {} : { total }),
    hasMore: hasMore || (total !== undefined && total > values.length),
  }
}

const nothing: Completions = []

/** The function that completes the argument; undefined for a known argument without one. Fails for unknown names. */
const completerOf = Effect.fnUntraced(function* (
  catalog: Catalog,
  ref: CompletionRef,
  name: string,
): Effect.fn.Return<Complete<unknown, never> | undefined, JsonRpcError> {
  if (ref.type === "ref/prompt") {
    const prompt = yield* findPrompt(catalog, ref.name)
    const argument = prompt.arguments.find((one) => one.name === name)
    if (argument !== undefined) return argument.complete
    const known = prompt.arguments.map((one) => one.name)
    return yield* unknownArgument(`prompt '${prompt.name}'`, name, known)
  }
  const { uri } = ref
  const template = catalog.templates.get(uri)
  if (template !== undefined) {
    const { variables } = template.form
    if (variables.includes(name)) return template.complete?.[name]
    return yield* unknownArgument(`'${uri}'`, name, variables)
  }
  // A resource that is not a template has no variables.
  if (catalog.resources.get(uri) !== undefined) return undefined
  return yield* invalid(`Unknown resource template '${uri}'`, {
    uri,
    resourceTemplates: namesOf(catalog.templates),
  })
})

/** The handler of `completion/complete` of one connection. */
export const completionComplete = ({
  catalog,
  refreshPrompts,
}: ConnectionCatalog): CoreHandler<Params<typeof CompletionCompleteMethod>, Result> =>
  Effect.fnUntraced(function* ({ argument, context: settled, ref }, context) {
    if (ref.type === "ref/prompt") yield* refreshPrompts
    const complete = yield* completerOf(catalog, ref, argument.name)
    if (complete === undefined) return { completion: bounded(nothing) }
    const request = { value: argument.value, arguments: settled?.arguments ?? {}, context }
    const completions = yield* Effect.suspend(() => complete(request)).pipe(
      Effect.catch(toClientError(`completion of ${argument.name}`)),
    )
    return { completion: bounded(completions) }
  })
