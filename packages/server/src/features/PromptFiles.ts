/**
 * Port: the prompts that lie in a directory as `name.md`. What they are is looked at when somebody asks for prompts;
 * nothing watches the directory.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The directory, or a file in it, cannot be read. `message` says why. */
export class PromptFileError extends Data.TaggedError("PromptFileError")<{
  readonly message: string
}> {}

export interface PromptFile {
  /** Without `.md`. */
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly modifiedMs: number
}

export interface PromptFiles {
  /** In any order; none where there is no directory. */
  readonly list: Effect.Effect<ReadonlyArray<PromptFile>, PromptFileError>
  /** The text of that file, of which no more than `maxBytes` are read. */
  readonly read: (name: string, maxBytes: number) => Effect.Effect<string, PromptFileError>
}
