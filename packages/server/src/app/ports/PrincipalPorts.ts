/**
 * The ports as one principal may use them. The login and the configuration file belong to the user who started the process:
 * other principals work with them, and neither read the credentials nor change anything. Keeps no state.
 */
import { localPrincipal } from "@colloquy/protocol/Connection"
import type { Workspace } from "../../Workspace.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Auth, AuthFailed, NoSuchLogin } from "./AuthPort.ts"
import { foreignPorts } from "../../thread/host/ports/ForeignPorts.ts"
import { HostFailed, HostPort } from "./HostPort.ts"
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

const outside = ({ message }: { readonly message: string }) =>
  new HostFailed({ message, reason: "OutsideWorkspace" })

/** `cwd` of the settings is checked where they are resolved. */
const confinedHost = (
  host: HostPort["Service"],
  workspace: Workspace | undefined,
): HostPort["Service"] =>
  workspace === undefined
    ? host
    : HostPort.of({
        ...host,
        searchFiles: ({ roots, ...query }) =>
          workspace.check("roots", roots).pipe(
            Effect.mapError(outside),
            Effect.flatMap((checked) => host.searchFiles({ ...query, roots: checked })),
          ),
        runCommand: (command) =>
          workspace
            .checkSandbox(command.settings.sandboxPolicy)
            .pipe(Effect.mapError(outside), Effect.andThen(host.runCommand(command))),
      })

/** The services with the ports that the principal may use. */
export const portsOf = (
  services: Context.Context<Auth | HostPort | UserConfig>,
  principal: string,
  workspace: Workspace | undefined,
): Context.Context<Auth | HostPort | UserConfig> =>
  principal === localPrincipal
    ? services
    : services.pipe(
        Context.add(Auth, foreignAuth(Context.get(services, Auth))),
        Context.add(UserConfig, foreignConfig(Context.get(services, UserConfig))),
        Context.add(HostPort, confinedHost(Context.get(services, HostPort), workspace)),
        (ports) => foreignPorts(ports, workspace),
      )
