/**
 * Holds a program back until the watchdog knows of its group, so that a server killed in between leaves none behind
 * (L8). A shell stands in for the program: it waits for a line on its standard input and then becomes the program;
 * where the server dies first that input ends, and the shell with it. It also joins the outputs of the program, which
 * the platform cannot. Pure: starts nothing.
 *
 * The program has the same process, group, words and environment as without, and no descriptor more: what shells set on
 * their own is taken back. The only difference is one resource limit, which marks it (`Mark`).
 */
import type { Launch } from "./Command.ts"
import { type Mark, settingLine } from "./Mark.ts"

/** What the shell calls itself in its complaints. */
const gateName = "colloquy-gate"

/** The line that lets the program run. */
export const pass = new TextEncoder().encode("go\n")

/** Only a shell's variable may have such a name; dash drops all others. */
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables that one shell or another does not pass on as it got them. */
const changed = new Set(["BASHOPTS", "IFS", "LINENO", "OPTIND", "PPID", "PS4", "SHELLOPTS"])

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Shells say where they are, whether or not they were told. */
const restored = (name: string, value: string | undefined): string =>
  value === undefined ? `unset ${name}` : `export ${name}=${quoted(value)}`

const uncounted = 'case ${BASH_VERSION-} in ?*) set -- /usr/bin/env -u SHLVL "$@" ;; esac'

export interface Gated {
  readonly argv: Launch["argv"]
  /** Where the gate is started itself, unless given. */
  readonly cwd?: string
  readonly env: Launch["env"]
  /** Carried by the program and all its descendants; absent: nothing is waited for. */
  readonly mark?: Mark
  /** False for a program that finds its standard input at its end at once. */
  readonly hasInput: boolean
  /** True: standard error goes where standard output goes. */
  readonly joinsOutput?: boolean
}

/**
 * What to start in the program's stead, with the program's environment. Its standard input is `pass` once the program
 * may run, and after it the program's own.
 */
export const gateOf = (gated: Gated): Launch["argv"] => {
  const { argv, cwd, env, hasInput, joinsOutput, mark } = gated
  const apart = Object.entries(env).filter(([name]) => !identifier.test(name) || changed.has(name))
  const through = apart.length === 0 ? [] : ["/usr/bin/env", ...apart.map((pair) => pair.join("="))]
  const script = [
    // First, so that the complaints of the gate come there too.
    ...(joinsOutput === true ? ["exec 2>&1"] : []),
    ...(mark === undefined ? [] : ["read -r COLLOQUY_GATE || exit", settingLine(mark)]),
    // Not by the platform, which asks a thread whether the directory is there: a fifth of what the gate costs.
    ...(cwd === undefined ? [] : [`cd ${quoted(cwd)} || exit 126`]),
    restored("PWD", env["PWD"]),
    restored("OLDPWD", env["OLDPWD"]),
    // Bash counts itself where nobody has counted, and can't be kept from it.
    ...(env["SHLVL"] === undefined ? [uncounted] : []),
    `exec "$@"${hasInput ? "" : " </dev/null"}`,
  ]
  return ["/bin/sh", "-c", script.join("\n"), gateName, ...through, ...argv]
}

/** How the message of a shell begins that could not become the program. */
export const complaintPrefix = `${gateName}: `

/** True for what begins as a shell does that could not become the program. */
export const isComplaint = (stderr: string): boolean => stderr.startsWith(complaintPrefix)

/** The system's error behind a complaint; `exitCode` is the gate's, as words depend on shell and language. */
export const faultCode = (complaint: string, exitCode?: number): "E2BIG" | "ENOENT" | "EACCES" => {
  if (/too long/i.test(complaint)) return "E2BIG"
  return exitCode === 127 || /not found|no such|not a directory/i.test(complaint)
    ? "ENOENT"
    : "EACCES"
}
