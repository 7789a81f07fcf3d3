/** The options that every command which loads the configuration takes, before or after its name. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { AskForApproval, SandboxMode } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { Launch } from "../args/Args.ts"
import type * as Options from "../args/Options.ts"
import { textFlag } from "./TextFlag.ts"

/** Why this is no argument of `-c`. Asked of the configuration: what parses the options of servers is part of every start. */
const overrideFault = (text: string): string | undefined =>
  Result.match(ConfigTree.parseOverride(text), {
    onFailure: (fault) => fault,
    onSuccess: () => undefined,
  })

const optional = (flag: Flag.Flag<string>) => Flag.optional(flag)

/** The program, without its commands. A command reads these options as `yield* launchOf`. */
export const colloquy = Command.make("colloquy").pipe(
  Command.withSharedFlags({
    config: Flag.String("config").pipe(
      Flag.withAlias("c"),
      Flag.withDescription("Set a key of config.toml for this run: key=value, the value in TOML"),
      Flag.filter(
        (text) => overrideFault(text) === undefined,
        (text) => `key=value: ${overrideFault(text) ?? ""}`,
      ),
      Flag.atLeast(0),
    ),
    model: optional(textFlag("model").pipe(Flag.withAlias("m"), Flag.withDescription("The model"))),
    sandbox: Flag.optional(
      Flag.Literals("sandbox", SandboxMode.literals).pipe(
        Flag.withAlias("s"),
        Flag.withDescription("What commands may change"),
      ),
    ),
    approvals: Flag.optional(
      Flag.Literals("ask-for-approval", AskForApproval.literals).pipe(
        Flag.withAlias("a"),
        Flag.withDescription("When to ask before a command or a change"),
      ),
    ),
    profile: optional(
      textFlag("profile").pipe(
        Flag.withAlias("p"),
        Flag.withDescription("The profile of config.toml"),
      ),
    ),
    cd: optional(
      textFlag("cd").pipe(Flag.withAlias("C"), Flag.withDescription("The directory to work in")),
    ),
  }),
)

const flagOf = (option: string, key: string, value: Option.Option<string>): Array<Options.Flag> =>
  Option.isNone(value) ? [] : [{ option, key, value: value.value }]

/** The options as the other commands have them. */
export const launchOf: Effect.Effect<Launch, never, Effect.Services<typeof colloquy>> = Effect.map(
  colloquy,
  ({ approvals, cd, config, model, profile, sandbox }): Launch => {
    const flags = [
      ...flagOf("--model", "model", model),
      ...flagOf("--sandbox", "sandbox_mode", sandbox),
      ...flagOf("--ask-for-approval", "approval_policy", approvals),
      ...flagOf("--profile", "profile", profile),
    ]
    return {
      overrides: config,
      ...(flags.length === 0 ? {} : { flags }),
      ...(Option.isNone(cd) ? {} : { directory: cd.value }),
    }
  },
)
