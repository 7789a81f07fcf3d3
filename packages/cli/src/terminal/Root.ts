/**
 * The commands for people, on `effect/cli`. Loaded only when one of them is run: a server starts faster without it. Help goes
 * to stdout where it was asked for; what is wrong with a command line goes to stderr, with exit code 2.
 */
import { spelledOut } from "@colloquy/core/question/VisibleText"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Layer from "effect/Layer"
import { errorLine } from "../log/ErrorLine.ts"
import { version } from "../server/Version.ts"
import { execCommand } from "../exec/ExecArguments.ts"
import { chatCommand } from "./chat/ChatCommand.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { completionsCommand } from "./completions/CompletionsCommand.ts"
import { ExitCode } from "./ExitCode.ts"
import * as HelpText from "./HelpText.ts"
import { clusterCommand } from "./cluster/ClusterCommand.ts"
import { colloquy } from "./LaunchCommand.ts"
import { loginCommand, logoutCommand, statusCommand } from "./login/LoginCommands.ts"
import { sessionsCommand } from "./sessions/SessionsCommand.ts"

const root = colloquy.pipe(
  Command.withSubcommands([
    chatCommand,
    execCommand,
    sessionsCommand,
    clusterCommand,
    loginCommand,
    logoutCommand,
    statusCommand,
    completionsCommand((): Command.Command.Any => root),
  ]),
)

/** Their names, from the commands: an import of the list would make a chunk that the start of a server loads. */
const names: ReadonlySet<string> = new Set(
  root.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name)),
)

/** One line for each fault, as the other commands print theirs. */
const lineOf = ({ message }: CliError.CliError): string =>
  `colloquy: ${message
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/ Did you mean this\? (\S+)$/, ", did you mean `$1`?")
    .replace(/ Did you mean this\?.*$/, "")}`

/** Of a command line with an unknown option before its command, what is read as the command may be its value. */
const certain = (errors: ReadonlyArray<CliError.CliError>): ReadonlyArray<CliError.CliError> =>
  errors.some(({ _tag }) => _tag === "UnrecognizedOption")
    ? errors.filter(({ _tag }) => _tag !== "UnknownSubcommand")
    : errors

/** Words of a command line, file names and texts of providers are shown, and not obeyed by the terminal. */
const legible = (text: string): string => text.split("\n").map(spelledOut).join("\n")

const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.sync(() => {
          const [, ...path] = event.commandPath
          const lines = certain(event.errors).map(lineOf)
          const help = ["colloquy", ...path, "--help"].join(" ")
          process.stderr.write(`${lines.map(legible).join("\n")}\nSee \`${help}\`\n`)
        })
      : CliOutput.defaultPresenter.present(event),
})

const builtIns = CliConfig.layer({ builtIns: [GlobalFlag.Help] })

/** Runs a command line whose first word is one of them. Resolves with the exit code. */
export const run = async (words: ReadonlyArray<string>): Promise<number> => {
  const code = { value: 0 }
  const exit = await Effect.runPromiseExit(
    Command.runWith(root, { version })(words).pipe(
      Effect.provideService(ExitCode, {
        set: (value) => Effect.sync(() => void (code.value = value)),
      }),
      Effect.provide(Layer.mergeAll(NodeServices.layer, presenter, builtIns, HelpText.layer)),
    ),
  )
  if (Exit.isSuccess(exit)) return code.value
  const error = Cause.squash(exit.cause)
  if (CliError.isCliError(error)) {
    // The parser has presented its own errors; this one is of the command.
    if (error._tag !== "ShowHelp") {
      const name = words.find((word) => names.has(word)) ?? ""
      process.stderr.write(`${legible(lineOf(error))}\nSee \`colloquy ${name} --help\`\n`)
    }
    return 2
  }
  const message = error instanceof CommandFailed ? error.message : errorLine(error)
  process.stderr.write(`${legible(`colloquy: ${message}`)}\n`)
  return 1
}
