/**
 * What a shell script runs, where that can be read off its text: plain words joined by `&&`, `||`, `;`, `|` and line
 * ends, by the grammar of Bash. It never runs anything and knows no command's meaning. Whatever it is not sure of is
 * not plain: any parse error and any piece of syntax not on the short list below (exec-notes §2).
 *
 * Words come out as the shell would hand them over, quotes and escapes removed, but for two expansions that add no
 * syntax and are left as text: `~`, which gives an absolute path, and patterns (`*`, `?`, `[…]`), which give names of
 * files; a name may look like an option, so a word says whether it is a pattern. A `$` that begins nothing is itself.
 */
import { parse } from "unbash"
import type { AndOr, Command, CommandNode, PipelineNode, Statement, Word, WordPart } from "unbash"

export interface PlainWord {
  readonly value: string
  /** Where it stands in the script, in UTF-16 code units. */
  readonly start: number
  readonly end: number
  /** True: the shell puts the names of the files it matches in its place, if there are any. */
  readonly isPattern: boolean
}

/** A longer script is not read: a person would not read it either. In UTF-16 code units. */
const maxScriptLength = 1_000_000

const isPlainPart = (part: WordPart): boolean => {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return true
    case "DoubleQuoted":
      return part.parts.every((child) => child.type === "Literal")
    case "Glob":
      return part.parts === undefined || part.parts.every(isPlainPart)
    default:
      return false
  }
}

/** A part whose text is all its own; an escaped line end in `$'…'` stays there, which the parser does not know. */
const isSealed = (part: WordPart): boolean =>
  part.type === "SingleQuoted" || (part.type === "AnsiCQuoted" && !part.text.includes("\\\n"))

/** A `$` before anything but these may begin something, and what, an escaped line end or an open `[` hides. */
const bareDollar = /\$(?![ \t\n".,;/|)\]}]|$)/

/** The shell joins lines before it looks for expansions, the parser after: it takes some for text. */
const isSettled = (text: string, parts: ReadonlyArray<WordPart>): boolean => {
  const open = parts.length === 0 ? text : parts.map((p) => (isSealed(p) ? "Q" : p.text)).join("")
  if (open.includes("\\\n") && /[$`{[(*?]/.test(open)) return false
  return !bareDollar.test(open.replace(/\\[^\n]/g, "Q"))
}

const plainWord = ({ end, parts = [], pos, text, value }: Word): PlainWord | undefined =>
  parts.every(isPlainPart) && isSettled(text, parts)
    ? { value, start: pos, end, isPattern: parts.some((part) => part.type === "Glob") }
    : undefined

type Commands = ReadonlyArray<ReadonlyArray<PlainWord>>

/** All of them, or nothing. */
const all = <A, B>(
  items: ReadonlyArray<A>,
  read: (item: A) => B | undefined,
): ReadonlyArray<B> | undefined => {
  const found: Array<B> = []
  for (const item of items) {
    const one = read(item)
    if (one === undefined) return undefined
    found.push(one)
  }
  return found
}

const ofCommand = ({ name, prefix, suffix }: Command): Commands | undefined => {
  if (name === undefined || prefix.length > 0) return undefined
  const words = all([name, ...suffix], (item) =>
    item.type === "Word" ? plainWord(item) : undefined,
  )
  return words === undefined ? undefined : [words]
}

const ofNode = (node: CommandNode | PipelineNode | AndOr): Commands | undefined => {
  switch (node.type) {
    case "Command":
      return ofCommand(node)
    case "Pipeline":
      return node.prefixes.length === 0 &&
        node.commands.length > 0 &&
        node.operators.every((operator) => operator === "|")
        ? all(node.commands, ofNode)?.flat()
        : undefined
    case "AndOr":
      return node.operators.every((operator) => operator === "&&" || operator === "||")
        ? all(node.commands, ofNode)?.flat()
        : undefined
    default:
      return undefined
  }
}

const ofStatement = ({ background, command }: Statement): Commands | undefined =>
  background === true ? undefined : ofNode(command)

/** Blanks, operators, escaped line ends and comments. Taken out one by one: a pattern for the whole could stall. */
const betweenWords = /[ \t\n;|&]+|\\\n|#[^\n]*/g

/** The parser is lenient: it steps over an open `(` behind a word without a word. What no word holds is read again. */
const accountsFor = (script: string, words: ReadonlyArray<PlainWord>): boolean => {
  let at = 0
  for (const { end, start } of words) {
    if (start < at || script.slice(at, start).replace(betweenWords, "") !== "") return false
    at = end
  }
  return script.slice(at).replace(betweenWords, "") === ""
}

/** A last backslash with nothing to escape: shells differ. */
const endsOpen = (script: string): boolean => {
  let count = 0
  while (script.at(-1 - count) === "\\") count++
  return count % 2 === 1
}

/**
 * The commands of a plain script in the order of the text, each with its words; none for a script that is empty or
 * only comments. Undefined: the script is not plain, or holds a NUL character.
 */
export const plainWords = (script: string): Commands | undefined => {
  if (script.length > maxScriptLength || script.includes("\0") || endsOpen(script)) {
    return undefined
  }
  const { commands, errors = [] } = parse(script)
  const found = errors.length > 0 ? undefined : all(commands, ofStatement)?.flat()
  return found !== undefined && accountsFor(script, found.flat()) ? found : undefined
}

/** The same as argument lists. */
export const plainCommands = (script: string): ReadonlyArray<ReadonlyArray<string>> | undefined =>
  plainWords(script)?.map((words) => words.map(({ value }) => value))
