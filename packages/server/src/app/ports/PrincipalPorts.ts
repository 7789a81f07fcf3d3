/**
 * The ports as one principal may use them. The login and the configuration file belong to the user who started the process:
 * other principals work with them, and neither read the credentials nor change anything. Keeps no state.
 */
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Auth, AuthFailed, NoSuchLogin } from "./AuthPort.ts"
import { UserConfig, UserConfigFailed } from "./UserConfigPort.ts"

const refused = Effect.suspend(() =>
  Effect.fail(new AuthFailed({ message: "the login belongs to the user of the server" })),
)

/** Shows whether there is a login, and nothing else of it. */
const foreignAuth = (auth: Auth["Service"]): Auth["Service"] =>
  Auth.of({
    loginApiKey: () => refused,
    loginChatGpt: refused,
    cancelLogin: (loginId) => Effect.fail(new NoSuchLogin({ loginId })),
    logout: refused,
    // A refresh would replace the credentials.
    status: () => Effect.map(auth.status({ refresh: false }), ({ token: _, ...status }) => status),
    email: Effect.undefined,
  })

const foreignConfig = ({ saved }: UserConfig["Service"]): UserConfig["Service"] =>
  UserConfig.of({
    saved,
    setDefaultModel: () =>
      Effect.fail(
        new UserConfigFailed({
          step: "write",
          message: "config.toml belongs to the user of the server",
        }),
      ),
  })

/** The services with the ports that the principal may use. */
export const portsOf = <R>(
  services: Context.Context<R | Auth | UserConfig>,
  principal: string,
): Context.Context<R | Auth | UserConfig> =>
  principal === localPrincipal
    ? services
    : services.pipe(
        Context.add(Auth, foreignAuth(Context.get(services, Auth))),
        Context.add(UserConfig, foreignConfig(Context.get(services, UserConfig))),
      )
