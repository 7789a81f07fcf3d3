/**
 * Holds a program back until the watchdog knows its process group, so that a server that is killed in between leaves no
 * process behind (L8). A shell is started in place of the program: it waits for a line on its standard input and then
 * replaces itself by the program. If the server dies first, that input ends and the shell exits. The shell also joins
 * the outputs of the program, which the platform cannot do. Pure: starts nothing.
 *
 * The program has the same process, group, arguments and environment as without the gate, and no additional descriptor:
 * variables that shells set by themselves are restored. The only difference is one resource limit, the mark
 * (`ProcessMark`).
 */
import type { Launch } from "./Command.ts"
import { type ProcessMark, setMarkCommand } from "./ProcessMark.ts"

/** Name of the shell in its own error messages. */
const gateName = "colloquy-gate"

/** The input line that lets the program run. */
export const releaseLine = new TextEncoder().encode("go\n")

/** Only such names can be shell variables; dash drops all others from the environment. */
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables that some shell does not pass on unchanged. */
const changed = new Set(["BASHOPTS", "IFS", "LINENO", "OPTIND", "PPID", "PS4", "SHELLOPTS"])

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Shells set their working directory as a variable even when the environment has none. */
const restored = (name: string, value: string | undefined): string =>
  value === undefined ? `unset ${name}` : `export ${name}=${quoted(value)}`

const uncounted = 'case ${BASH_VERSION-} in ?*) set -- /usr/bin/env -u SHLVL "$@" ;; esac'

/** A program that is to be started by way of the gate. */
export interface GatedProgram {
  readonly argv: Launch["argv"]
  /** Directory that the gate changes to. Absent: the platform sets the directory. */
  readonly cwd?: string
  /** The whole environment of the program. */
  readonly env: Launch["env"]
  /** The mark of the program and all its descendants. Absent: the program is not held back. */
  readonly mark?: ProcessMark
  /** False for a program whose standard input is empty. */
  readonly hasInput: boolean
  /** True: standard error goes to the same pipe as standard output. */
  readonly joinsOutput?: boolean
}

/**
 * Argument list to start instead of the program, with the environment of the program. Its standard input is
 * `releaseLine` when the program may run, followed by the standard input of the program.
 */
export const gatedArgv = (gated: GatedProgram): Launch["argv"] => {
  const { argv, cwd, env, hasInput, joinsOutput, mark } = gated
  const apart = Object.entries(env).filter(([name]) => !identifier.test(name) || changed.has(name))
  const through = apart.length === 0 ? [] : ["/usr/bin/env", ...apart.map((pair) => pair.join("="))]
  const script = [
    // First, so that error messages of the gate go to the same pipe.
    ...(joinsOutput === true ? ["exec 2>&1"] : []),
    ...(mark === undefined ? [] : ["read -r COLLOQUY_GATE || exit", setMarkCommand(mark)]),
    // The platform would ask a thread whether the directory exists, which is a fifth of the cost of the gate.
    ...(cwd === undefined ? [] : [`cd ${quoted(cwd)} || exit 126`]),
    restored("PWD", env["PWD"]),
    restored("OLDPWD", env["OLDPWD"]),
    // Bash sets SHLVL where the environment has none, and cannot be kept from it.
    ...(env["SHLVL"] === undefined ? [uncounted] : []),
    `exec "$@"${hasInput ? "" : " </dev/null"}`,
  ]
  return ["/bin/sh", "-c", script.join("\n"), gateName, ...through, ...argv]
}

/** Prefix of the error message of a shell that could not start the program. */
export const errorPrefix = `${gateName}: `

/** True for output that begins with the error message of a shell that could not start the program. */
export const isGateError = (stderr: string): boolean => stderr.startsWith(errorPrefix)

/**
 * Error code of the system behind such a message. The exit code counts first, because the wording depends on the shell.
 */
export const errorCode = (message: string, exitCode?: number): "E2BIG" | "ENOENT" | "EACCES" => {
  if (/too long/i.test(message)) return "E2BIG"
  return exitCode === 127 || /not found|no such|not a directory/i.test(message)
    ? "ENOENT"
    : "EACCES"
}
