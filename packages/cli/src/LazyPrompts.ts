/** The prompts in `prompts/*.md` of the state directory; what reads them is loaded when a client asks for prompts. */
import { PromptFileError, type PromptFiles } from "@colloquy/server/features/PromptFiles"
import * as Effect from "effect/Effect"

const reading = Effect.promise(() => import("./PromptDirectory.ts"))

/** What the platform says, without the path: a client's log is no place for it. */
const failed = (cause: unknown) =>
  new PromptFileError({
    message: cause instanceof Error && "code" in cause ? String(cause.code) : String(cause),
  })

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
