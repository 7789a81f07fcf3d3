/**
 * Recognizes calls of the shell tool that are patches. Pure; decides by the argument list alone, reads no file and
 * runs nothing. Whatever is not exactly one of the known forms is an ordinary command.
 *
 * The body of a heredoc is taken literally, whether its delimiter is quoted or not: no shell reads it, so `$x` in a
 * patch is the text `$x`, which is what models mean. `cd DIR` applies to all paths of the patch, move targets too; the
 * original resolved those against the directory of the session.
 */
import * as Result from "effect/Result"
import { type HereDoc, parse, type Word } from "unbash"
import * as PatchText from "./PatchText.ts"

/** What an argument list is. */
export type Interception =
  | {
      readonly _tag: "Patch"
      readonly patch: string
      /** Directory of the paths, relative to that of the call; undefined: the directory of the call. */
      readonly directory: string | undefined
    }
  /** A patch without an explicit call of `apply_patch`: it is not run, and the model reads `implicitInvocation`. */
  | { readonly _tag: "Implicit" }
  | { readonly _tag: "Command" }

/** Output for a patch without an explicit call, in the words of the original. */
export const implicitInvocation =
  'error: patch detected without explicit call to apply_patch. Rerun as ["apply_patch", "<patch>"]'

const command: Interception = { _tag: "Command" }

const isProgram = (name: string): boolean => name === "apply_patch" || name === "applypatch"

/** The script of `bash -lc SCRIPT` and similar commands; Bash's grammar is used for all shells. */
const scriptOf = (argv: ReadonlyArray<string>): string | undefined => {
  const [shell = "", flag, script] = argv
  const isShell = /^(?:.*\/)?(?:bash|sh|zsh)$/.test(shell)
  return argv.length === 3 && isShell && (flag === "-lc" || flag === "-c") ? script : undefined
}

type Parsed = ReturnType<typeof parse>
type Node = Parsed["commands"][number]["command"]
type Command = Extract<Node, { readonly type: "Command" }>

/** True for a command with an accepted name and without assignments. */
const isPlain = (node: Node, accepts: (name: string) => boolean): node is Command =>
  node.type === "Command" &&
  node.prefix.length === 0 &&
  node.name !== undefined &&
  node.name.text === node.name.value &&
  accepts(node.name.value)

/** The value of a word that is literal: plain, or completely in quotes. No globs, `~`, `-` or expansions. */
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
  // Nearly all commands need no parsing.
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

/** Classifies an argument list. The patch is not parsed yet. */
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
