/** Port: the person's configuration file, and the only setting that clients can write: the default model. */
import type { UserSavedConfig } from "@colloquy/protocol/app/Host"
import type { ReasoningEffort } from "@colloquy/protocol/Policy"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Reading or writing failed. `message` names the file, and the line where it is known, and contains no secret. */
export class UserConfigFailed extends Data.TaggedError("UserConfigFailed")<{
  /** `load`: the file cannot be read. `parse`: its contents are invalid. `write`: it could not be written and is unchanged. */
  readonly step: "load" | "parse" | "write"
  readonly message: string
}> {}

/** The model of new conversations. Undefined members are removed from the file. */
export interface DefaultModel {
  readonly model: string | undefined
  readonly reasoningEffort: ReasoningEffort | undefined
}

/** The person's configuration file. */
export class UserConfig extends Context.Service<
  UserConfig,
  {
    /** The settings in the file as it is now. */
    readonly saved: Effect.Effect<UserSavedConfig, UserConfigFailed>
    /** Writes to the active profile, if there is one, else to the top level. Keeps the rest of the file and its comments. */
    readonly setDefaultModel: (choice: DefaultModel) => Effect.Effect<void, UserConfigFailed>
  }
>()("@colloquy/server/app/UserConfig") {
  /** For a server without a configuration file: nothing is saved, and writing fails. */
  static readonly none = UserConfig.of({
    saved: Effect.succeed({ profiles: {} }),
    setDefaultModel: () =>
      Effect.fail(
        new UserConfigFailed({ step: "write", message: "there is no configuration file" }),
      ),
  })

  /** `none` as a layer. */
  static readonly layerNone = Layer.succeed(this, this.none)
}
