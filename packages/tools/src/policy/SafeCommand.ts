/**
 * Commands that may run without a question, because they read, and neither write nor start anything else. They are
 * judged by their words alone, and not by the file of that name, so only bare names and the system's directories count.
 * A command that is not on the list is not dangerous, only unknown. Paths do not matter: every policy lets commands
 * read.
 *
 * The list is the union of two versions of the original's, with deliberate differences. `cargo check` is not on it,
 * because it runs the project's build scripts. `git` counts only where it runs confined to reading, because a
 * repository's configuration names programs that `git status` starts. `uniq` counts only without a second file, which
 * it would write. Options joined in one word (`rg -iz`) and shortened ones (`base64 --out`) are recognized.
 */
import { type PlainWord, plainWords } from "./PlainScript.ts"

/** A word of an argument list; for the shell it may still be a pattern for names of files. */
type Argument = Pick<PlainWord, "value" | "isPattern">

const alwaysSafe = new Set(
  (
    "cat cd cut echo expr false grep head id ls nl numfmt paste pwd rev seq stat tac tail tr true uname wc which " +
    "whoami"
  ).split(" "),
)

const findActions = new Set(
  "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf".split(" "),
)

const branchListing =
  /^(?:-a|-r|-v|-vv|-l|-i|--all|--remotes|--verbose|--list|--show-current|--ignore-case|--(?:no-)?column|--(?:no-)?color|--(?:no-)?(?:merged|contains)|--(?:sort|format|points-at|abbrev|color|column|(?:no-)?(?:merged|contains))=.*)$/

/** `--output`, `--ext-diff`, `--textconv`, `--exec`, `--paginate`, `--config-env`, and their shortened forms. */
const gitReaches = /^--(?:ou|ext|textc|exec|pag|config)/

/** The subcommand has to come first: options before it, above all `-c`, can name programs to start. */
const isGitReading = ([subcommand, ...rest]: ReadonlyArray<Argument>): boolean => {
  const words = rest.map(({ value }) => value)
  switch (subcommand?.value) {
    case "branch":
      // A bare word creates a branch, except after a list option: then it is a pattern.
      return words.every(
        (word) =>
          branchListing.test(word) ||
          (!word.startsWith("-") && words.some((w) => w === "--list" || w === "-l")),
      )
    case "status":
    case "log":
    case "diff":
    case "show":
      return !words.some((word) => gitReaches.test(word))
    default:
      return false
  }
}

const isOption = ({ value }: Argument): boolean => value.startsWith("-") && value !== "-"

/** Conditions on the arguments of programs that read unless an option makes them write or start something. */
const conditions: Readonly<Record<string, (args: ReadonlyArray<Argument>) => boolean>> = {
  base64: (args) => !args.some(({ value }) => /^-[^-]*o|^--o/.test(value)),
  find: (args) => !args.some(({ value }) => findActions.has(value)),
  rg: (args) =>
    !args.some(({ value }) => /^-[^-]*z|^--(?:search-zip|(?:pre|hostname-bin)(?:=|$))/.test(value)),
  sed: (args) =>
    (args.length === 2 || args.length === 3) &&
    args[0]?.value === "-n" &&
    /^\d+(?:,\d+)?p$/.test(args[1]?.value ?? "") &&
    args.slice(2).every((arg) => arg.value !== "" && !isOption(arg)),
  uniq: (args) =>
    args.filter((arg) => !isOption(arg)).length <= 1 &&
    !args.some(({ isPattern, value }) => isPattern || value === "--"),
}

/** A file whose name begins with a dash becomes an option when the pattern matches it. */
const mayBecomeOption = ({ isPattern, value }: Argument): boolean =>
  isPattern && /^[-*?[]/.test(value)

const programOf = (word: string): string => /^(?:\/usr)?\/bin\/([^/]+)$/.exec(word)?.[1] ?? word

/** Where the command will run. */
export interface SafetyContext {
  /** True: it will run where it can only read. */
  readonly sandboxedReadOnly: boolean
}

const isSafe = (
  [name, ...args]: ReadonlyArray<Argument>,
  { sandboxedReadOnly }: SafetyContext,
): boolean => {
  if (name === undefined) return false
  const program = programOf(name.value)
  if (alwaysSafe.has(program)) return true
  if (args.some(mayBecomeOption)) return false
  if (program === "git") return sandboxedReadOnly && isGitReading(args)
  return Object.hasOwn(conditions, program) && conditions[program]?.(args) === true
}

const shells = new Set(["bash", "zsh", "sh"])

/** The script and the shell of `bash -lc script` and similar commands: exactly three words. */
export const shellScript = (
  argv: ReadonlyArray<string>,
): { readonly shell: string; readonly script: string } | undefined => {
  const [program = "", flag = "", script] = argv
  const shell = programOf(program)
  return argv.length === 3 &&
    script !== undefined &&
    shells.has(shell) &&
    (flag === "-lc" || flag === "-c")
    ? { shell, script }
    : undefined
}

/**
 * True where another shell reads a script of Bash's grammar differently: some `sh` do not know `$'…'` and end it at the
 * first quote; zsh runs code from `(…)` after a pattern.
 */
const readsOtherwise = (shell: string, script: string): boolean =>
  (shell === "sh" && script.includes("$'")) || (shell === "zsh" && script.includes("("))

/**
 * True when the command only reads: the command itself, or each command of the plain script that it has a shell run.
 */
export const isKnownSafe = (argv: ReadonlyArray<string>, context: SafetyContext): boolean => {
  if (argv.some((word) => word.includes("\0"))) return false
  const inShell = shellScript(argv)
  if (inShell === undefined) {
    return isSafe(
      argv.map((value) => ({ value, isPattern: false })),
      context,
    )
  }
  const { script, shell } = inShell
  const commands = readsOtherwise(shell, script) ? undefined : plainWords(script)
  return (
    commands !== undefined &&
    commands.length > 0 &&
    commands.every((command) => isSafe(command, context))
  )
}
