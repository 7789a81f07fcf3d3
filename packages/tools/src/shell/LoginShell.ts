/**
 * Commands in the user's own shell: those of the model with the setup of the user's profile (`experimental_use_profile`),
 * only where the setting says so, because a profile may change anything; and those that the user gives.
 */

/** Quotes a word so that a shell reads it back unchanged. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

const scriptOf = (argv: ReadonlyArray<string>): string => {
  const [shell, flag, script] = argv
  return argv.length === 3 && shell === "bash" && flag === "-lc" && script !== undefined
    ? script
    : argv.map(quoted).join(" ")
}

const rcFiles: Readonly<Record<string, string>> = { bash: ".bashrc", zsh: ".zshrc" }

/**
 * The command in the user's shell. `env` is the user's environment: its `SHELL` is the shell, and its `HOME` contains
 * the rc file, which is read if it exists. For a shell other than bash and zsh the command is returned unchanged.
 */
export const inLoginShell = (
  argv: readonly [string, ...ReadonlyArray<string>],
  env: Readonly<Record<string, string | undefined>>,
): readonly [string, ...ReadonlyArray<string>] => {
  const shell = env["SHELL"] ?? ""
  const rc = rcFiles[shell.slice(shell.lastIndexOf("/") + 1)]
  const home = env["HOME"]
  if (!shell.startsWith("/") || rc === undefined || home === undefined) return argv
  const file = quoted(`${home}/${rc}`)
  return [shell, "-lc", `[ -r ${file} ] && . ${file}; (${scriptOf(argv)}\n)`]
}

/** Shells that take a line as `-lc LINE`. */
const lineShells: ReadonlySet<string> = new Set(["bash", "dash", "ksh", "sh", "zsh"])

/** A line of the user in the shell that `SHELL` names; in `bash` where that is another kind of shell, or none. */
export const userShell = (
  line: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly [string, ...ReadonlyArray<string>] => {
  const shell = env["SHELL"] ?? ""
  const isKnown = shell.startsWith("/") && lineShells.has(shell.slice(shell.lastIndexOf("/") + 1))
  return [isKnown ? shell : "bash", "-lc", line]
}
