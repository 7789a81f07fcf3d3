/** The prompts in `prompts/*.md` of the state directory. The code that reads them is loaded when a client first requests prompts. */
import { PromptFileError, type PromptFiles } from "@colloquy/server/features/PromptFiles"
import * as Effect from "effect/Effect"

const reading = Effect.promise(() => import("../machine/PromptDirectory.ts"))

/** The problem without the path, because clients see it in their log. */
const problemOf = (cause: unknown): string => {
  if (cause instanceof TypeError) return "is not UTF-8"
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)
}

const failed = (cause: unknown) => new PromptFileError({ message: problemOf(cause) })

/** Creates the access. Reads nothing yet. */
export const make = (options: { readonly stateDirectory: string }): PromptFiles => ({
  list: Effect.flatMap(reading, ({ list }) =>
    Effect.tryPromise({ try: () => list(options.stateDirectory), catch: failed }),
  ),
  read: (name, maxBytes) =>
    Effect.flatMap(reading, ({ read }) =>
      Effect.tryPromise({
        try: () => read(options.stateDirectory, name, maxBytes),
        catch: failed,
      }),
    ),
})
