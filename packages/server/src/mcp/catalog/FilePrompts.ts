/** The prompts of a directory, once per process; what reads them is loaded when somebody asks for prompts. */
import * as Effect from "effect/Effect"
import { type Features, make as makeFeatures } from "../../features/Features.ts"
import type { PromptFiles } from "../../features/PromptFiles.ts"

export interface FilePrompts {
  readonly features: Features
  /** Brings them up to date. */
  readonly refresh: Effect.Effect<void>
}

const make = (files: PromptFiles): Effect.Effect<FilePrompts> =>
  Effect.gen(function* () {
    const features = yield* Effect.orDie(makeFeatures())
    const refresh = yield* Effect.cached(
      Effect.map(
        Effect.promise(() => import("../../features/PromptBook.ts")),
        (book) => book.make(files, features),
      ).pipe(
        // Loaded once, whoever gives up waiting for it.
        Effect.uninterruptible,
      ),
    )
    return { features, refresh: Effect.flatten(refresh) }
  })

const known = new WeakMap<PromptFiles, FilePrompts>()

/** Connections share them as they share the directory. */
export const filePrompts = (files: PromptFiles): Effect.Effect<FilePrompts> =>
  Effect.suspend(() => {
    const prompts = known.get(files)
    if (prompts !== undefined) return Effect.succeed(prompts)
    return Effect.tap(make(files), (made) => Effect.sync(() => known.set(files, made)))
  })
