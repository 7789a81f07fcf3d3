/**
 * Words of a command or a path that can be mistaken for others because some of their characters look like others:
 * letters of two scripts in one word, compatibility forms of ASCII characters, and other signs that look like a slash, a
 * hyphen or another character with a meaning in a shell. A word wholly in one foreign script is marked when all its
 * letters look like Latin ones, wherever it is: any word may be the name of a program. Pure. Keeps its part of L7.
 */
import { signLike } from "./LookAlikeSigns.ts"
import { once } from "@colloquy/protocol/Once"
import { quoted, spelledOut } from "./VisibleText.ts"

/**
 * Letters that most fonts draw like an ASCII letter, by that letter (a part of Unicode's `confusables.txt`, UTS 39):
 * Cyrillic, Greek, Armenian and Latin ones. They name what a character looks like, and find the words that consist of
 * them alone.
 */
const lookingLike: Readonly<Record<string, string>> = {
  a: "аαɑ",
  b: "Ь",
  c: "сϲᴄ",
  d: "ԁ",
  e: "еҽ",
  g: "ցɡ",
  h: "һհ",
  i: "іιı",
  j: "јϳ",
  k: "κᴋ",
  l: "ӏӀ",
  n: "ոռ",
  o: "оοօᴏ",
  p: "рρ",
  q: "ԛզ",
  r: "г",
  s: "ѕꜱ",
  u: "υսᴜ",
  v: "ѵνᴠ",
  w: "ԝѡᴡ",
  x: "хχ",
  y: "уүγ",
  z: "ᴢ",
  A: "АΑ",
  B: "ВΒ",
  C: "СϹ",
  E: "ЕΕ",
  F: "Ϝ",
  H: "НΗ",
  I: "ІΙ",
  J: "ЈͿ",
  K: "КΚ",
  M: "МΜ",
  N: "Ν",
  O: "ОΟՕ",
  P: "РΡ",
  S: "ЅՏ",
  T: "ТΤ",
  U: "Ս",
  X: "ХΧ",
  Y: "УΥҮ",
  Z: "Ζ",
}

const reversed = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(table).flatMap(([ascii, chars]) =>
      Array.from(chars, (char) => [char, ascii] as const),
    ),
  )

interface Tables {
  readonly letters: ReadonlyMap<string, string>
  readonly scripts: ReadonlyArray<readonly [name: string, RegExp]>
}

/** Scripts with letters of the shapes of other scripts' letters. Writing mixes no two of them within a word. */
const distinct = [
  "Latin",
  "Greek",
  "Cyrillic",
  "Armenian",
  "Georgian",
  "Cherokee",
  "Coptic",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Thai",
  "Lisu",
  "Osage",
  "Deseret",
]

/** Made at the first use: most conversations ask no question, and regular expressions of scripts take time to compile. */
const tables = once((): Tables => ({
  letters: reversed(lookingLike),
  scripts: distinct.map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")]),
}))

/** The script of a letter, of those above; undefined for all others, such as Han and Kana, which are used together. */
const scriptOf = (char: string): string | undefined =>
  tables().scripts.find(([, of]) => of.test(char))?.[0]

const isAscii = (text: string): boolean => /^[\0-\u007f]*$/.test(text)

/** Runs of letters with their marks. */
const letterRuns = /[\p{L}\p{M}]+/gu

/** A name without its path: no other character of a word separates names. */
const names = /[\p{L}\p{M}\p{N}\-_.]+/gu

/** True when every letter of the name looks like ASCII. Marks on letters are easily overlooked. */
const looksLatin = (name: string): boolean =>
  Array.from(name).every(
    (char) => char <= "~" || tables().letters.has(char) || !/\p{L}/u.test(char),
  )

/** Used in Turkish and related languages, which have no other letter for it. */
const isOrdinary = (char: string): boolean => char === "ı"

/** The letters of the name that belong to another script than those beside them, or only look like ASCII. */
const foreignLetters = (name: string): ReadonlyArray<string> => {
  const isLikeLatin = looksLatin(name)
  return [...name.matchAll(letterRuns)].flatMap(([run]) => {
    if (isAscii(run)) return []
    const chars = Array.from(run)
    const scripts = new Set(chars.flatMap((char) => scriptOf(char) ?? []))
    return chars.filter((char) => {
      if (char <= "~") return false
      const isLatin = scriptOf(char) === "Latin"
      const hasTwin = tables().letters.has(char)
      if (scripts.size > 1) return hasTwin || !isLatin
      return hasTwin && (isLatin ? !isOrdinary(char) : isLikeLatin)
    })
  })
}

interface Mark {
  readonly char: string
  readonly like: string | undefined
}

const marksOf = (word: string, text: string): ReadonlyArray<Mark> => {
  if (isAscii(word)) return []
  const letters = new Set([...word.matchAll(names)].flatMap(([name]) => foreignLetters(name)))
  return [...new Set(word)].flatMap((char) => {
    const like = signLike(char, word, text)
    if (like !== undefined) return [{ char, like }]
    return letters.has(char) ? [{ char, like: tables().letters.get(char) }] : []
  })
}

const codePoint = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

const described = ({ char, like }: Mark): string => {
  const script = scriptOf(char)
  const facts = [
    codePoint(char),
    ...(script === undefined ? [] : [script]),
    ...(like === undefined ? [] : [`looks like ${like}`]),
  ]
  return `${spelledOut(char)} (${facts.join(", ")})`
}

/** Most words and characters that are listed: more would hide the first ones. */
const maxWords = 5
const maxMarks = 6
/** Longest part of a text that is searched, in UTF-16 code units. */
const maxSearched = 64 * 1024

/** Words: separated by what ends a word in a shell, or a part that a reader sees as a word. */
const words = /[^\s;&|<>()`"'=,:{}]+/g

const marksIn = (text: string): ReadonlyArray<readonly [string, ReadonlyArray<Mark>]> => {
  if (isAscii(text)) return []
  const searched = text.slice(0, maxSearched)
  return [...searched.matchAll(words)].flatMap(([word]) => {
    const marks = marksOf(word, searched)
    return marks.length > 0 ? [[word, marks] as const] : []
  })
}

const linesOf = (found: ReadonlyMap<string, ReadonlyArray<Mark>>): ReadonlyArray<string> => {
  const lines = [...found].slice(0, maxWords).map(([word, marks]) => {
    const left = marks.length - maxMarks
    const more = left > 0 ? `, and ${left} more` : ""
    return `Look-alike characters: ${quoted(word)} contains ${marks.slice(0, maxMarks).map(described).join(", ")}${more}.`
  })
  const left = found.size - maxWords
  return left > 0 ? [...lines, `Look-alike characters: ${left} more words contain some.`] : lines
}

/** Letters of a script that is written from right to left, with what may follow them inside such a run. */
const rightToLeft =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]+/gu

/**
 * One line where several runs of right-to-left letters follow each other without a letter of another direction between
 * them: a display shows them, and the signs between them, in reversed order.
 */
export const inOrder = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const text = texts.join(" ")
  if (isAscii(text)) return []
  const runs = [...text.slice(0, maxSearched).matchAll(rightToLeft)]
  const isReversed = runs.some(({ 0: run, index }, i) => {
    const next = runs[i + 1]
    return next !== undefined && !/\p{L}/u.test(text.slice(index + run.length, next.index))
  })
  return isReversed
    ? [
        "Right-to-left letters: a display may show neighbouring words that are written in them in reversed order.",
      ]
    : []
}

/** One line for each word of these texts that can be mistaken for another, with the characters that make it so. */
export const inTexts = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  linesOf(new Map(texts.flatMap(marksIn)))
