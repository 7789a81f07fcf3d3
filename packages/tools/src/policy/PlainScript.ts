/**
 * Reads from the text of a shell script which commands it runs, where that is possible: plain words joined by `&&`,
 * `||`, `;`, `|` and line feeds, by the grammar of Bash. It never runs anything and knows no meaning of commands.
 * Whatever is not certain is not plain: any parse error, and any syntax that is not on the short list below.
 *
 * Words are returned as the shell would pass them, quotes and escapes removed, except for two expansions that add no
 * syntax and are left as text: `~`, which becomes an absolute path, and patterns (`*`, `?`, `[…]`), which become names
 * of files. A name may look like an option, so a word says whether it is a pattern. A `$` that starts no expansion is
 * literal.
 */
import { parse } from "unbash"
import type { AndOr, Command, CommandNode, PipelineNode, Statement, Word, WordPart } from "unbash"

/** A word of a plain script. */
export interface PlainWord {
  /** The word without quotes and escapes. */
  readonly value: string
  /** Position in the script, in UTF-16 code units. */
  readonly start: number
  readonly end: number
  /** True: the shell replaces the word by the names of the files that match it, if there are any. */
  readonly isPattern: boolean
}

/** A longer script is not read, because no person would read it either. In UTF-16 code units. */
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

/** A part whose text is literal. An escaped line feed in `$'…'` stays in the text, which the parser does not know. */
const isSealed = (part: WordPart): boolean =>
  part.type === "SingleQuoted" || (part.type === "AnsiCQuoted" && !part.text.includes("\\\n"))

/**
 * Matches a `$` before anything but these characters, which may start an expansion that a joined line or a `[` hides.
 */
const bareDollar = /\$(?![ \t\n".,;/|)\]}]|$)/

/** The shell joins lines before it looks for expansions, and the parser after: it takes some expansions for text. */
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

/** The results of `read` for all items; undefined when one of them is undefined. */
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

/** Blanks, operators, escaped line feeds and comments. Removed one by one: a pattern for all together could stall. */
const betweenWords = /[ \t\n;|&]+|\\\n|#[^\n]*/g

/** The parser is lenient: it skips an open `(` after a word. So what belongs to no word is checked again. */
const accountsFor = (script: string, words: ReadonlyArray<PlainWord>): boolean => {
  let at = 0
  for (const { end, start } of words) {
    if (start < at || script.slice(at, start).replace(betweenWords, "") !== "") return false
    at = end
  }
  return script.slice(at).replace(betweenWords, "") === ""
}

/** True for a backslash at the end with nothing to escape: shells differ in reading it. */
const endsOpen = (script: string): boolean => {
  let count = 0
  while (script.at(-1 - count) === "\\") count++
  return count % 2 === 1
}

/**
 * The commands of a plain script in the order of the text, each with its words; none for a script that is empty or has
 * only comments. Undefined: the script is not plain, or contains a NUL character.
 */
export const plainWords = (script: string): Commands | undefined => {
  if (script.length > maxScriptLength || script.includes("\0") || endsOpen(script)) {
    return undefined
  }
  const { commands, errors = [] } = parse(script)
  const found = errors.length > 0 ? undefined : all(commands, ofStatement)?.flat()
  return found !== undefined && accountsFor(script, found.flat()) ? found : undefined
}

/** The commands of a plain script as argument lists; undefined as for `plainWords`. */
export const plainCommands = (script: string): ReadonlyArray<ReadonlyArray<string>> | undefined =>
  plainWords(script)?.map((words) => words.map(({ value }) => value))
