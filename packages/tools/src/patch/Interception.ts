/**
 * Recognizes calls of the shell tool that are patches (§8.4). Pure; decides on the argument list alone, reads no file and
 * runs nothing. Whatever is not exactly one of the known forms is an ordinary command.
 *
 * The body of a heredoc is taken as it stands, whether its delimiter is quoted or not: no shell sees it, so `$x` in a
 * patch is the text `$x`, which is what models mean. `cd DIR` holds for all paths of the patch, move targets too; in the
 * original those were resolved against the directory of the session.
 */
import * as Result from "effect/Result"
import { type HereDoc, parse, type Word } from "unbash"
import * as PatchText from "./PatchText.ts"

export type Interception =
  | {
      readonly _tag: "Patch"
      readonly patch: string
      /** Directory of the paths, relative to that of the call; absent: the call's own. */
      readonly directory: string | undefined
    }
  /** A patch that was not given to `apply_patch`: not run; the model reads `implicitInvocation`. */
  | { readonly _tag: "Implicit" }
  | { readonly _tag: "Command" }

export const implicitInvocation =
  'error: patch detected without explicit call to apply_patch. Rerun as ["apply_patch", "<patch>"]'

const command: Interception = { _tag: "Command" }

const isProgram = (name: string): boolean => name === "apply_patch" || name === "applypatch"

/** The script of `bash -lc SCRIPT` and its like; bash's grammar is read for all three. */
const scriptOf = (argv: ReadonlyArray<string>): string | undefined => {
  const [shell = "", flag, script] = argv
  const isShell = /^(?:.*\/)?(?:bash|sh|zsh)$/.test(shell)
  return argv.length === 3 && isShell && (flag === "-lc" || flag === "-c") ? script : undefined
}

type Parsed = ReturnType<typeof parse>
type Node = Parsed["commands"][number]["command"]
type Command = Extract<Node, { readonly type: "Command" }>

/** A command of one name and words, without assignments. */
const isPlain = (node: Node, accepts: (name: string) => boolean): node is Command =>
  node.type === "Command" &&
  node.prefix.length === 0 &&
  node.name !== undefined &&
  node.name.text === node.name.value &&
  accepts(node.name.value)

/** A word that stands for itself: plain, or wholly in quotes. No globs, `~`, `-` or expansions. */
const literalOf = (word: Word): string | undefined => {
  const [part, ...others] = word.parts ?? []
  if (part === undefined) return /^[~-]/.test(word.text) ? undefined : word.value
  if (others.length > 0) return undefined
  if (part.type === "SingleQuoted") return part.value
  const isLiteral =
    part.type === "DoubleQuoted" && part.parts.every((child) => child.type === "Literal")
  return isLiteral ? word.value : undefined
}

const directoryOf = (node: Node): string | undefined => {
  if (!isPlain(node, (name) => name === "cd")) return undefined
  const [argument, ...others] = node.suffix
  return argument?.type === "Word" && others.length === 0 ? literalOf(argument) : undefined
}

const bodyOf = (heredoc: HereDoc): string => {
  const { text } = heredoc.body
  let end = text.length
  while (text[end - 1] === "\n") end--
  const body = text.slice(0, end)
  return heredoc.operator === "<<-" ? body.replaceAll(/^\t+/gm, "") : body
}

const heredocOf = (node: Node): string | undefined => {
  if (!isPlain(node, isProgram)) return undefined
  const [heredoc, ...others] = node.suffix
  if (heredoc?.type !== "HereDoc" || others.length > 0) return undefined
  const isWhole = heredoc.descriptor === undefined && heredoc.closing !== undefined
  return isWhole ? bodyOf(heredoc) : undefined
}

const inScript = (script: string): Interception => {
  // Parsing is spared for nearly all commands.
  if (!/apply_?patch/.test(script) || script.includes("\0")) return command
  const { commands, errors } = parse(script)
  const [statement, ...others] = commands
  if (statement === undefined || others.length > 0 || statement.background === true) return command
  if (errors !== undefined && errors.length > 0) return command
  const node = statement.command
  if (node.type !== "AndOr") {
    const patch = heredocOf(node)
    return patch === undefined ? command : { _tag: "Patch", patch, directory: undefined }
  }
  const [change, apply, ...more] = node.commands
  if (change === undefined || apply === undefined || more.length > 0) return command
  const directory = node.operators[0] === "&&" ? directoryOf(change) : undefined
  const patch = heredocOf(apply)
  if (directory === undefined || patch === undefined) return command
  return { _tag: "Patch", patch, directory }
}

const isPatch = (text: string): boolean => Result.isSuccess(PatchText.parse(text))

/** What an argument list is, before any question is asked about it. The patch is not parsed yet. */
export const intercept = (argv: ReadonlyArray<string>): Interception => {
  const [first = "", second] = argv
  if (argv.length === 2 && second !== undefined && isProgram(first)) {
    return { _tag: "Patch", patch: second, directory: undefined }
  }
  if (argv.length === 1 && isPatch(first)) return { _tag: "Implicit" }
  const script = scriptOf(argv)
  if (script === undefined) return command
  return isPatch(script) ? { _tag: "Implicit" } : inScript(script)
}
