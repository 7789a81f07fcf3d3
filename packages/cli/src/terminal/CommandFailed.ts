/** A command for people failed. */
import * as Data from "effect/Data"

/** `message` is for a person, who is shown nothing else; the process ends with exit code 1. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly message: string
}> {}
