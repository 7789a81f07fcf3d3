/**
 * Starts the program that the user's `config.toml` names as `notify`, once for each completed turn.
 *
 * The program is searched like those that the server starts for its own purposes (L15), and its `PATH` has no directory
 * that commands can write to. It runs outside the sandbox, because it serves the user and not the model, without the
 * keys of model providers, for a minute at most. Its output is discarded. It and its descendants end with the fiber
 * that waits for it (L8).
 */
import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { CommandResult } from "../process/Command.ts"
import type { CommandRunner } from "../process/CommandRunner.ts"
import { environmentOf } from "../environment/EnvironmentPolicy.ts"
import type { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import { notificationText } from "./NotificationText.ts"

/** The program did not run to its end with exit code 0; `message` names the program and the reason. */
export class NotifyFailed extends Data.TaggedError("NotifyFailed")<{ readonly message: string }> {}

/** What the notification needs. */
export interface NotifyParts {
  readonly programs: TrustedPrograms["Service"]
  readonly runner: CommandRunner["Service"]
  /** Environment of the server. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Variables that hold keys of model providers: the program does not get them. */
  readonly secretNames: ReadonlyArray<string>
  /** Directory in which the program starts, an absolute path. */
  readonly cwd: string
}

/** Long enough for a notification over the network. */
const timeout = Duration.minutes(1)
const killGrace = Duration.millis(500)
/** The output is discarded, but the runner keeps at least some of it. */
const maxOutputBytes = 1024

/**
 * Everything but the keys of providers, as in the original: a desktop notification needs the variables of the session.
 */
const inherited = {
  inherit: "all",
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
} as const

const environmentFor = Effect.fnUntraced(function* (parts: NotifyParts) {
  const env = environmentOf(parts.environment, inherited, {
    networkDisabled: false,
    providerKeyNames: parts.secretNames,
  })
  const { PATH: searchPath } = env
  return searchPath === undefined
    ? env
    : { ...env, PATH: yield* parts.programs.safeSearchPath(searchPath) }
})

const faultOf = ({ exit }: CommandResult): string | undefined => {
  switch (exit._tag) {
    case "Exited":
      return exit.code === 0 ? undefined : `ended with exit code ${exit.code}`
    case "Signaled":
      return `was ended by ${exit.signal}`
    case "TimedOut":
      return `was ended after ${Duration.toSeconds(exit.after)} seconds`
  }
}

/**
 * Runs the program. Fails when it did not end with exit code 0.
 *
 * @param command the program and its arguments; the notification follows as the last argument
 */
export const run = Effect.fn("NotifyProgram.run")(function* (
  parts: NotifyParts,
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  turn: CompletedTurn,
): Effect.fn.Return<void, NotifyFailed> {
  const failed = ({ message }: { readonly message: string }) => new NotifyFailed({ message })
  const path = yield* Effect.mapError(parts.programs.resolveConfigured(program), failed)
  const result = yield* parts.runner
    .run(
      {
        argv: [path, ...args, notificationText(turn)],
        cwd: parts.cwd,
        env: yield* environmentFor(parts),
        inputs: new Map(),
        diesWithParent: false,
      },
      { timeout, killGrace, maxOutputBytes, onOutput: () => Effect.void },
    )
    .pipe(Effect.mapError(failed))
  const fault = faultOf(result)
  if (fault !== undefined) return yield* failed({ message: `${path} ${fault}` })
})
