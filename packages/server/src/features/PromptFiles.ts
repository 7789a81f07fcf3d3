/**
 * Port: the prompts in a directory of files `name.md`. The directory is read when a client requests prompts; nothing
 * watches it.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The directory, or a file in it, cannot be read. `message` gives the reason. */
export class PromptFileError extends Data.TaggedError("PromptFileError")<{
  readonly message: string
}> {}

/** A file of the directory, whose size and time show whether it has changed. */
export interface PromptFile {
  /** The file's name without `.md`. */
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly modifiedMs: number
}

/** Reads a directory of prompts. */
export interface PromptFiles {
  /** The files in any order; none when the directory does not exist. */
  readonly list: Effect.Effect<ReadonlyArray<PromptFile>, PromptFileError>
  /** The text of the file. At most `maxBytes` are read. */
  readonly read: (name: string, maxBytes: number) => Effect.Effect<string, PromptFileError>
}
