/** The command lines of `login`, `logout` and `status`. */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { launchOf } from "../LaunchCommand.ts"
import { withServices } from "../WithServices.ts"

const login = Effect.promise(() => import("./Login.ts"))

const runStatus = Effect.fnUntraced(function* () {
  const { status } = yield* login
  yield* withServices(yield* launchOf, status)
})

const statusText = "Print which model, provider and login are used"

/** Logs in. */
export const loginCommand = Command.make(
  "login",
  {
    apiKey: Flag.Boolean("api-key").pipe(
      Flag.withDescription("Store an API key, read from stdin; without it, log in in a browser"),
      Flag.withoutNegation,
      Flag.withDefault(false),
    ),
  },
  Effect.fnUntraced(function* ({ apiKey }) {
    const { inBrowser, withApiKey } = yield* login
    const launch = yield* launchOf
    yield* apiKey ? withServices(launch, () => withApiKey) : withServices(launch, () => inBrowser)
  }),
).pipe(
  Command.withDescription("Log in to the provider openai"),
  Command.withSubcommands([
    Command.make("status", {}, runStatus).pipe(Command.withDescription(statusText)),
  ]),
)

/** Logs out. */
export const logoutCommand = Command.make(
  "logout",
  {},
  Effect.fnUntraced(function* () {
    const { logout } = yield* login
    yield* withServices(yield* launchOf, () => logout)
  }),
).pipe(Command.withDescription("Delete the stored login"))

/** Prints the login. */
export const statusCommand = Command.make("status", {}, runStatus).pipe(
  Command.withDescription(statusText),
)
