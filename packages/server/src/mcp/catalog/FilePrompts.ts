/** The prompts of a directory of files. The code that reads them is loaded when a client first requests prompts. */
import * as Effect from "effect/Effect"
import { type Features, make as makeFeatures } from "../../features/Features.ts"
import type { PromptFiles } from "../../features/PromptFiles.ts"
import type { SharedState } from "../../Server.ts"

/** The prompts of one directory. */
export interface FilePrompts {
  /** The prompts that were read last; none before the first `refresh`. */
  readonly features: Features
  /** Reads the files again and updates `features`. */
  readonly refresh: Effect.Effect<void>
}

const make = Effect.fnUntraced(function* (files: PromptFiles): Effect.fn.Return<FilePrompts> {
  const features = yield* Effect.orDie(makeFeatures())
  const refresh = yield* Effect.cached(
    Effect.map(
      Effect.promise(() => import("../../features/PromptBook.ts")),
      (book) => book.make(files, features),
    ),
  )
  // Loaded once: a cached effect starts anew when its only caller is interrupted.
  return { features, refresh: Effect.flatten(Effect.uninterruptible(refresh)) }
})

/** The file prompts of one server; undefined when it was given no directory. */
export const filePrompts: SharedState<FilePrompts | undefined> = {
  make: ({ prompts }) => (prompts === undefined ? Effect.undefined : make(prompts)),
}
