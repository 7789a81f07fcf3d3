/** The text of a command for a person who decides about it: quoted as for a shell, with hidden characters escaped. Pure. */
import { isVisible, layout, omission, spelledOut } from "./VisibleText.ts"

/** Words that need no quotes in a shell. */
const plain = /^[\w@%+=:,./-]+$/

const quoted = (word: string): string => {
  if (plain.test(word)) return word
  if (isVisible(word)) return `'${word.replaceAll("'", "'\\''")}'`
  return `$'${spelledOut(word.replaceAll(/[\\']/g, "\\$&"))}'`
}

/** The words on one line. Bash and zsh parse the line to exactly these words. */
export const commandText = (command: ReadonlyArray<string>): string => command.map(quoted).join(" ")

/** A path, unchanged if every character is visible, otherwise quoted as for a shell. */
export const pathText = (path: string): string =>
  isVisible(path) && !path.startsWith("$'") ? path : quoted(path)

/** Longest command inside a sentence, in UTF-16 code units: about two rows of a wide terminal. */
const maxInline = 240

/** Most rows of a command below a sentence. A longer one shows its beginning and its end. */
const maxRows = 160

/** True for a text whose end a reader could mistake inside a sentence. */
const confusesSentence = (text: string): boolean => !isVisible(text) || text.includes("`")

/** True for a command that the sentence of the original program can contain. */
export const isInline = (command: ReadonlyArray<string>, cwd: string): boolean =>
  command.every((word) => !confusesSentence(word)) &&
  !confusesSentence(cwd) &&
  commandText(command).length <= maxInline &&
  cwd.length <= maxInline

/** A text in rows with a margin, so that no row can be mistaken for text of the server. Its characters are visible. */
export const textRows = (text: string): string =>
  layout(spelledOut(text), maxRows)
    .map((part) => ("line" in part ? `  | ${part.line}` : `  ${omission(part.omitted)}`))
    .join("\n")

/** The command in such rows. */
export const commandRows = (command: ReadonlyArray<string>): string =>
  textRows(commandText(command))
