/**
 * The ports of this folder for a principal that is not the user who started the server: it reads and changes none of the
 * user's files, skills and configuration, and runs commands only as its workspace allows.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HostFailed } from "../../../app/ports/HostPort.ts"
import type { Workspace } from "../../../Workspace.ts"
import { CommandPort, type Commands } from "./CommandPort.ts"
import { ConfigCheckPort, noCheck } from "./ConfigCheckPort.ts"
import { ConfigFailed, ConfigPort, noConfig } from "./ConfigPort.ts"
import { FileFailed, FilePort, type Files } from "./FilePort.ts"
import { noSkills, SkillPort } from "./SkillPort.ts"

const refused = Effect.suspend(() =>
  Effect.fail(new FileFailed({ message: "the files belong to the user of the server" })),
)

const foreignFiles: Files = {
  read: () => refused,
  write: () => refused,
  describe: () => refused,
  list: () => refused,
  createDirectory: () => refused,
  copy: () => refused,
  remove: () => refused,
  watch: () => refused,
}

const confined = (commands: Commands, workspace: Workspace | undefined): Commands =>
  workspace === undefined
    ? commands
    : {
        run: (command) =>
          workspace.checkSandbox(command.settings.sandboxPolicy).pipe(
            Effect.mapError(
              ({ message }) => new HostFailed({ message, reason: "OutsideWorkspace" }),
            ),
            Effect.andThen(commands.run(command)),
          ),
      }

/** The context with the ports that such a principal may use. */
export const foreignPorts = <R>(
  context: Context.Context<R>,
  workspace: Workspace | undefined,
): Context.Context<R> =>
  context.pipe(
    Context.add(FilePort, foreignFiles),
    Context.add(CommandPort, confined(Context.get(context, CommandPort), workspace)),
    Context.add(ConfigPort, {
      read: noConfig.read,
      write: () =>
        Effect.fail(
          new ConfigFailed({
            reason: "readonly",
            message: "config.toml belongs to the user of the server",
          }),
        ),
    }),
    Context.add(ConfigCheckPort, noCheck),
    Context.add(SkillPort, noSkills),
  )
