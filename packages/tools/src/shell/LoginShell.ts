/**
 * A command as the person's own shell would run it, with what their profile sets up (`experimental_use_profile`, §6.8):
 * only where the setting says so, since a profile may change anything.
 */

/** A word as a shell reads it back, whatever it contains. */
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
 * `env` is the person's: its `SHELL` is the shell and its `HOME` holds the rc file, which is read where it exists. A
 * shell that is neither bash nor zsh reads no profile, and the command runs as it is.
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
