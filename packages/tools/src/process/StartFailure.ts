/**
 * Explains to the model why a program did not start. Owns the checks before the start, and reading the errors of the
 * system and of bubblewrap; never starts anything.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { adviceFor, knownAdvice } from "../sandbox/linux/BubblewrapFailure.ts"
import { launcherPath } from "../sandbox/linux/Landlock.ts"
import { CommandNotStarted, type Launch } from "./Command.ts"

const notStarted = (reason: CommandNotStarted["reason"], message: string): CommandNotStarted =>
  new CommandNotStarted({ reason, message })

/** Words of the model are shortened. */
const shown = (word: string): string =>
  JSON.stringify(word.length > 200 ? `${word.slice(0, 200)}…` : word)

/** Error for what no system call accepts: an empty list, an empty first word, NUL characters. Undefined: no error. */
export const faultOf = (
  launch: Pick<Launch, "cwd" | "env"> & { readonly argv: ReadonlyArray<string> },
): CommandNotStarted | undefined => {
  if (launch.argv.length === 0) return notStarted("Arguments", "the command is empty")
  if (launch.argv[0] === "") return notStarted("Arguments", "the name of the program is empty")
  const word = launch.argv.findIndex((argument) => argument.includes("\0"))
  if (word >= 0)
    return notStarted("Arguments", `word ${word + 1} of the command has a NUL character`)
  if (launch.cwd.includes("\0")) {
    return notStarted("Directory", "the working directory has a NUL character in its name")
  }
  const variable = Object.entries(launch.env).find(([name, value]) =>
    `${name}${value}`.includes("\0"),
  )
  return variable === undefined
    ? undefined
    : notStarted("Arguments", `environment variable ${shown(variable[0])} has a NUL character`)
}

const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return ""
  if ("code" in error && typeof error.code === "string") return error.code
  return "cause" in error ? codeOf(error.cause) : ""
}

const byCode = (name: string, code: string): CommandNotStarted => {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return notStarted("NotFound", `program not found, or what its first line asks for: ${name}`)
    case "EACCES":
    case "EPERM":
    case "ENOEXEC":
    case "EISDIR":
      return notStarted("NotExecutable", `not an executable program: ${name}`)
    case "E2BIG":
      return notStarted("Arguments", "the words and environment of the command are too long")
    default:
      return notStarted("Other", `could not start ${name}${code === "" ? "" : `: ${code}`}`)
  }
}

/** The program of a confined launch is the sandbox itself: when that is missing, the command did not even start. */
const programFault = (launch: Launch, code: string): CommandNotStarted => {
  const fault = byCode(shown(launch.argv[0]), code)
  if (launch.statusFd === undefined || fault.reason === "Arguments") return fault
  return notStarted(
    "Sandbox",
    `the sandbox did not start: ${fault.message} (${adviceFor(code === "ENOTDIR" ? "ENOENT" : code)})`,
  )
}

/**
 * Distinguishes a bad directory from a bad program, because the error of the system names neither. `failure` is an
 * error of the platform or, where Node throws immediately (`ENOTDIR`, `E2BIG`), a defect.
 */
export const diagnose = (
  fs: FileSystem.FileSystem,
  launch: Launch,
  failure: unknown,
): Effect.Effect<CommandNotStarted> =>
  fs.stat(launch.cwd).pipe(
    Effect.map((info) =>
      info.type === "Directory"
        ? programFault(launch, codeOf(failure))
        : notStarted("Directory", `the working directory is not a directory: ${shown(launch.cwd)}`),
    ),
    Effect.catch((error: PlatformError) =>
      Effect.succeed(
        error.reason._tag === "NotFound"
          ? notStarted("Directory", `the working directory does not exist: ${shown(launch.cwd)}`)
          : notStarted("Directory", `the working directory cannot be read: ${shown(launch.cwd)}`),
      ),
    ),
  )

/** Error for a program that ran, and whose remaining descendants the system does not show; `code` is the system's. */
export const notExamined = (program: string, code: string): CommandNotStarted =>
  notStarted(
    "Other",
    `${shown(program)} ended, but processes that it started cannot be listed and may be left: ${code}`,
  )

/** Error of a launcher inside the sandbox that could not start the program; `stderr` is the launcher's. */
export const launcherFault = (
  { program }: NonNullable<Launch["launcher"]>,
  exitCode: number,
  stderr: string,
): CommandNotStarted => {
  if (exitCode === 127) return byCode(shown(program), "ENOENT")
  return exitCode === 126
    ? byCode(shown(program), "EACCES")
    : notStarted("Sandbox", `the sandbox did not start: ${stderr.trim()}`)
}

/**
 * Error when the sandbox ran but not its program; `stderr` is bubblewrap's alone (0.8.0: `bwrap: execvp NAME: WHY`).
 */
export const sandboxFault = (stderr: string): CommandNotStarted => {
  const message = stderr.trim()
  const program = /^bwrap: execvp (.*): (.*)$/m.exec(message)
  if (program !== null && program[1] !== launcherPath) {
    const [, name = "", why = ""] = program
    if (why.startsWith("No such file")) return byCode(shown(name), "ENOENT")
    return why.startsWith("Permission denied")
      ? byCode(shown(name), "EACCES")
      : notStarted("Other", `could not start ${shown(name)}: ${why}`)
  }
  const directory = /^bwrap: Can't chdir to (.*): (.*)$/m.exec(message)
  if (directory !== null) {
    return notStarted(
      "Directory",
      `cannot use the working directory ${directory[1]}: ${directory[2]}`,
    )
  }
  const advice = knownAdvice(message)
  return notStarted(
    "Sandbox",
    `the sandbox did not start: ${message === "" ? "it gave no reason" : message}${advice === undefined ? "" : ` (${advice})`}`,
  )
}
