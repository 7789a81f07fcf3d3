/** Why `exec` ends with exit code 1. */
import * as Schema from "effect/Schema"

/** Nothing was run, or the turn failed; `message` is for a person. Empty where the reason was reported already. */
export class ExecFailed extends Schema.TaggedError<ExecFailed>()("ExecFailed", {
  message: Schema.String,
}) {}
