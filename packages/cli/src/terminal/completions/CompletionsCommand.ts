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

/** Words that an argument takes beside free text, by the name of its command. */
const words: Readonly<Record<string, ReadonlyArray<string>>> = { exec: ["resume"] }

const withWords = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => {
  const values = words[command.name]
  if (values === undefined) return command
  const [first, ...rest] = command.arguments
  if (first === undefined) return command
  // Only the first of several words has these values.
  const type = { _tag: "Choice", values } as const
  return { ...command, arguments: [{ ...first, variadic: false, type }, ...rest] }
}

/** The names of the commands, which `help` takes. */
const namesOf = ({
  description,
  name,
  subcommands,
}: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  name,
  description,
  flags: [],
  arguments: [],
  subcommands: subcommands.map(namesOf),
})

const withPaths = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: command.flags.map((flag) => {
    const pathType = paths[flag.name]
    return pathType === undefined ? flag : { ...flag, type: { _tag: "Path", pathType } }
  }),
  subcommands: command.subcommands.map(withPaths),
})

/** What the shells complete. */
const completed = (people: Command.Command.Any): Completions.CommandDescriptor => {
  const own = withPaths(Completions.fromCommand(people))
  const commands = [...own.subcommands.map(withWords), ...serverDescriptors]
  return {
    ...own,
    subcommands: commands.map((one) =>
      one.name === "help"
        ? { ...one, subcommands: commands.filter((other) => other !== one).map(namesOf) }
        : one,
    ),
  }
}

/** @param people gives the program with all commands for people, this one too */
export const completionsCommand = (people: () => Command.Command.Any) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish"]).pipe(
        Argument.withDescription("The shell"),
      ),
    },
    Effect.fnUntraced(function* ({ shell }) {
      const all = completed(people())
      const names = all.subcommands.map(({ name }) => name).join(" ")
      const script = Completions.generate("colloquy", shell, all)
        .trimEnd()
        // Of fish, to which the value of an option before the command is a command, too.
        .replaceAll("__fish_use_subcommand", `not __fish_seen_subcommand_from ${names}`)
      // The comments of the script name an option, for which there is a command here.
      yield* print([script.replaceAll("--completions", "completions")])
    }),
  ).pipe(Command.withDescription("Print a script for the completions of a shell"))
