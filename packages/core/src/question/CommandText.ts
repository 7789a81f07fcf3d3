/** A command as a person reads it before it runs: quoted as for a shell, with hidden characters spelled out. Pure. */
import { isVisible, layout, omission, spelledOut } from "./VisibleText.ts"

/** Words that a shell takes as they are. */
const plain = /^[\w@%+=:,./-]+$/

const quoted = (word: string): string => {
  if (plain.test(word)) return word
  if (isVisible(word)) return `'${word.replaceAll("'", "'\\''")}'`
  return `$'${spelledOut(word.replaceAll(/[\\']/g, "\\$&"))}'`
}

/** The words on one line; bash and zsh read the very same words from it. */
export const commandText = (command: ReadonlyArray<string>): string => command.map(quoted).join(" ")

/** A path as it is where all of it can be seen, else quoted as for a shell. */
export const pathText = (path: string): string =>
  isVisible(path) && !path.startsWith("$'") ? path : quoted(path)

/** Longest command that is part of a sentence: about two rows of a wide terminal. UTF-16 code units. */
const maxInline = 240

/** Rows of a command below a sentence; longer ones show their beginning and end. */
const maxRows = 160

/** A place that a reader could mistake for the end of the command inside a sentence. */
const confusesSentence = (text: string): boolean => !isVisible(text) || text.includes("`")

/** True for a command that a sentence can contain, in the words of the original. */
export const isInline = (command: ReadonlyArray<string>, cwd: string): boolean =>
  command.every((word) => !confusesSentence(word)) &&
  !confusesSentence(cwd) &&
  commandText(command).length <= maxInline &&
  cwd.length <= maxInline

/** The command in rows with a margin, so that none of them can be taken for a line of ours. */
export const commandRows = (command: ReadonlyArray<string>): string =>
  layout(commandText(command), maxRows)
    .map((part) => ("line" in part ? `  | ${part.line}` : `  ${omission(part.omitted)}`))
    .join("\n")
