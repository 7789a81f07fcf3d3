/** Runs a command for people over the services of a serving process: conversations, login, configuration. */
import * as Effect from "effect/Effect"
import * as Application from "../Application.ts"
import type { Launch } from "../args/Args.ts"
import { withNamedProvider } from "../config/NamedProvider.ts"
import * as LogLayer from "../log/LogLayer.ts"
import * as StderrLog from "../log/StderrLog.ts"
import * as Environment from "../machine/Environment.ts"
import { forPeople } from "./PeopleLog.ts"
import * as Startup from "../server/Startup.ts"
import { CommandFailed } from "./CommandFailed.ts"

/** What a command knows besides the services. */
export interface Loaded {
  readonly startup: Startup.Startup
  readonly environment: Environment.Environment
}

const failed = (error: { readonly _tag: string; readonly message?: string }): CommandFailed =>
  new CommandFailed({
    message: error.message === undefined || error.message === "" ? error._tag : error.message,
  })

/** Loads the configuration. Fails with what is wrong with it. */
const load = (launch: Launch): Effect.Effect<Loaded, CommandFailed> => {
  const environment = Environment.read(launch.directory)
  return Effect.mapBoth(Startup.load(environment, launch), {
    onFailure: ({ message, warnings = [] }) =>
      // The name of the program is written before every message of a command.
      new CommandFailed({ message: [...warnings, message.replace(/^colloquy: /, "")].join("\n") }),
    onSuccess: (startup) => ({ startup, environment }),
  })
}

/** Loads the configuration and runs the command over nothing but it. */
export const withConfiguration = <
  A,
  E extends { readonly _tag: string; readonly message?: string },
>(
  launch: Launch,
  command: (loaded: Loaded) => Effect.Effect<A, E>,
): Effect.Effect<A, CommandFailed> =>
  Effect.gen(function* () {
    const loaded = yield* load(launch)
    const { logLevel: level } = forPeople(loaded.environment)
    const log = LogLayer.layer({ write: StderrLog.stderrLines(), level })
    return yield* command(loaded).pipe(Effect.mapError(failed), Effect.provide(log))
  })

/**
 * Loads the configuration and runs the command. The services are released when it ends, however it ends. Failures of the
 * services become failures with their message.
 *
 * @param write writes a line of the log; default: on stderr
 */
export const withServices = <A, E extends { readonly _tag: string; readonly message?: string }>(
  launch: Launch,
  command: (loaded: Loaded) => Effect.Effect<A, E, Application.Services>,
  write: (line: string) => void = StderrLog.stderrLines(),
): Effect.Effect<A, CommandFailed> =>
  Effect.gen(function* () {
    const loaded = yield* load(launch)
    return yield* Effect.mapError(command(loaded), failed).pipe(
      Application.provided(
        { originator: "colloquy_chat", source: "cli" },
        {
          ...loaded,
          environment: forPeople(loaded.environment),
          write,
          close: Effect.void,
          storedSettings: withNamedProvider(loaded.startup),
        },
      ),
    )
  })
