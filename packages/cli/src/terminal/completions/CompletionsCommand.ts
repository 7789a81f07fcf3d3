/** The command `completions`: the script with which a shell completes command lines of this program. */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import { print } from "../Output.ts"
import { serverDescriptors } from "./ServerDescriptors.ts"

/**
 * Options whose value is the path of a file or directory. Their flags are plain texts, because a path belongs to the directory
 * that `-C` names and is checked by the command.
 */
const paths: Readonly<Record<string, "file" | "directory">> = {
  cd: "directory",
  image: "file",
  "output-schema": "file",
  "output-last-message": "file",
}

const withPaths = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: command.flags.map((flag) => {
    const pathType = paths[flag.name]
    return pathType === undefined ? flag : { ...flag, type: { _tag: "Path", pathType } }
  }),
  subcommands: command.subcommands.map(withPaths),
})

/** @param commands the commands for people */
export const completionsCommand = (commands: Command.Command.Any) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish"]).pipe(
        Argument.withDescription("The shell"),
      ),
    },
    Effect.fnUntraced(function* ({ shell }) {
      const own = withPaths(Completions.fromCommand(commands))
      const all = { ...own, subcommands: [...own.subcommands, ...serverDescriptors] }
      const script = Completions.generate("colloquy", shell, all).trimEnd()
      // The comments of the script name an option, for which there is a command here.
      yield* print([script.replaceAll("--completions", "completions")])
    }),
  ).pipe(Command.withDescription("Print a script for the completions of a shell"))
