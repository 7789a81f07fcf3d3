/** The line that a person types, and what each key does to it. Pure. */
import { graphemes } from "../../Width.ts"

/** A key as `node:readline` reports it. */
export interface Key {
  /** Absent for a character that has no name. */
  readonly name?: string | undefined
  /** What the terminal sent. */
  readonly sequence: string
  readonly ctrl?: boolean
  readonly meta?: boolean
}

/** The text and the place of the cursor in it, in UTF-16 code units. May have line feeds. */
export interface Line {
  readonly text: string
  readonly cursor: number
}

/** Nothing typed. */
export const emptyLine: Line = { text: "", cursor: 0 }

/** A text with the cursor at its end. */
export const lineOf = (text: string): Line => ({ text, cursor: text.length })

const before = ({ cursor, text }: Line): string => text.slice(0, cursor)
const after = ({ cursor, text }: Line): string => text.slice(cursor)

/** Inserts a text at the cursor. */
export const insert = (line: Line, text: string): Line => ({
  text: before(line) + text + after(line),
  cursor: line.cursor + text.length,
})

const to = ({ text }: Line, cursor: number): Line => ({
  text,
  cursor: Math.max(0, Math.min(text.length, cursor)),
})

/** Deletes what is between the cursor and `place`. */
const cut = (line: Line, place: number): Line => {
  const [start, end] = [Math.min(line.cursor, place), Math.max(line.cursor, place)]
  return { text: line.text.slice(0, start) + line.text.slice(end), cursor: start }
}

/** No character that a person sees is longer, in UTF-16 code units. Looking at more would take long in a long text. */
const maxCharacter = 256

const left = ({ cursor, text }: Line): number =>
  cursor - (graphemes(text.slice(Math.max(0, cursor - maxCharacter), cursor)).at(-1)?.length ?? 0)
const right = ({ cursor, text }: Line): number =>
  cursor + (graphemes(text.slice(cursor, cursor + maxCharacter))[0]?.length ?? 0)
const wordLeft = (line: Line): number => before(line).replace(/\S+\s*$|\s+$/u, "").length
const wordRight = (line: Line): number =>
  line.cursor + (/^\s*\S+/u.exec(after(line))?.[0].length ?? after(line).length)
const start = (line: Line): number => before(line).lastIndexOf("\n") + 1
const end = (line: Line): number => {
  const feed = line.text.indexOf("\n", line.cursor)
  return feed === -1 ? line.text.length : feed
}

type Edit = (line: Line) => Line

const plain: Readonly<Record<string, Edit>> = {
  left: (line) => to(line, left(line)),
  right: (line) => to(line, right(line)),
  home: (line) => to(line, start(line)),
  end: (line) => to(line, end(line)),
  backspace: (line) => cut(line, left(line)),
  delete: (line) => cut(line, right(line)),
  tab: (line) => line,
}

const withCtrl: Readonly<Record<string, Edit>> = {
  a: (line) => to(line, start(line)),
  e: (line) => to(line, end(line)),
  b: (line) => to(line, left(line)),
  f: (line) => to(line, right(line)),
  h: (line) => cut(line, left(line)),
  d: (line) => cut(line, right(line)),
  w: (line) => cut(line, wordLeft(line)),
  u: (line) => cut(line, start(line)),
  k: (line) => cut(line, end(line)),
  left: (line) => to(line, wordLeft(line)),
  right: (line) => to(line, wordRight(line)),
}

const withMeta: Readonly<Record<string, Edit>> = {
  b: (line) => to(line, wordLeft(line)),
  f: (line) => to(line, wordRight(line)),
  d: (line) => cut(line, wordRight(line)),
  left: (line) => to(line, wordLeft(line)),
  right: (line) => to(line, wordRight(line)),
  backspace: (line) => cut(line, wordLeft(line)),
  return: (line) => insert(line, "\n"),
  enter: (line) => insert(line, "\n"),
}

const isText = (sequence: string): boolean => sequence !== "" && !/\p{Cc}/u.test(sequence)

/** The line after the key; undefined for a key that is not one of editing. */
export const edit = (line: Line, key: Key): Line | undefined => {
  const keys = key.ctrl === true ? withCtrl : key.meta === true ? withMeta : plain
  const name = key.name ?? ""
  if (Object.hasOwn(keys, name)) return keys[name]?.(line)
  if (key.ctrl === true || key.meta === true || !isText(key.sequence)) return undefined
  return insert(line, key.sequence)
}
