/** The exit code of a command for people. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Says with which code the process ends. Default 0. */
export class ExitCode extends Context.Service<
  ExitCode,
  { readonly set: (code: number) => Effect.Effect<void> }
>()("colloquy/ExitCode") {}
