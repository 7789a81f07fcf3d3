/** Port: what stands in the person's configuration file, and the one thing that clients write there (§3.11). */
import type { UserSavedConfig } from "@colloquy/protocol/app/Host"
import type { ReasoningEffort } from "@colloquy/protocol/Policy"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** `message` names the file and the line where it can, and no secret. */
export class UserConfigFailed extends Data.TaggedError("UserConfigFailed")<{
  /** `load`: it cannot be read. `parse`: what stands there cannot be understood. `write`: it stayed as it was. */
  readonly step: "load" | "parse" | "write"
  readonly message: string
}> {}

export interface DefaultModel {
  /** Undefined: cleared. */
  readonly model: string | undefined
  readonly reasoningEffort: ReasoningEffort | undefined
}

export class UserConfig extends Context.Service<
  UserConfig,
  {
    /** As the file is now. */
    readonly saved: Effect.Effect<UserSavedConfig, UserConfigFailed>
    /** To the active profile where there is one; the rest of the file stays as it is, its comments too. */
    readonly setDefaultModel: (choice: DefaultModel) => Effect.Effect<void, UserConfigFailed>
  }
>()("@colloquy/server/app/UserConfig") {
  /** Of a server without such a file. */
  static readonly none = UserConfig.of({
    saved: Effect.succeed({ profiles: {} }),
    setDefaultModel: () =>
      Effect.fail(
        new UserConfigFailed({ step: "write", message: "this server keeps no configuration" }),
      ),
  })

  static readonly layerNone = Layer.succeed(this, this.none)
}
