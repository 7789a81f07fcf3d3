/**
 * Which characters outside ASCII look like an ASCII sign with a meaning in a shell. Whole general categories count:
 * dashes (Pd), connectors (Pc), quotation marks (Pi, Pf) and brackets (Ps, Pe); a table adds what other categories
 * contain. Pure. Keeps its part of L7.
 */

import { once } from "@colloquy/protocol/Once"

/** Characters by the ASCII sign that they look like. Forms that Unicode maps to that sign need no entry. */
const table: Readonly<Record<string, string>> = {
  "'": "‵´ʹʻʼʽʾʿˈˊʹ΄՚՛׳ߴߵ᾽᾿῾´′‘’‛Ꞌꞌᛌ",
  '"': "˝ʺˮ˶״“”„‟″‶〃〝〞〟",
  "`": "ˋ˴՝`",
  "-": "˗−⁃➖─━╌╍┄┅┈┉╴╶╸╺⎯⎺⎻⎼㇐一ㅡᅳーᐨ۔",
  _: "ˍ▁⎽ߺ‗",
  "<": "‹˂ᐸ❮〈⟨❬〈≺⋖⊰⪡≪«⧼《⟪",
  ">": "›˃ᐳ❯〉⟩❭〉≻⋗⊱⪢≫»⧽》⟫",
  "|": "¦∣ǀǁ│┃❘❙❚⏐⎸⎹╎╏┆┇┊┋╵╷╹╻∥‖׀।丨ㅣᅵⵏߊ▏▕",
  "&": "ꝸ⅋🙰🙱🙲🙳",
  ";": "⁏؛",
  $: "💲",
  "*": "∗⁎٭⋆✱✲✳✻✼✽❋⚹꙳※⧆",
  "?": "ʔɁॽꛫ؟⸮❓❔‽Ꭾ",
  "!": "ǃⵑ❗❕❢❣",
  "~": "∼˜⁓〜∽῀",
  "#": "♯⌗⋕⧣ⵌ",
  "/": "⁄∕╱⟋⧸᜵⁁〳ノ丿㇓",
  "\\": "∖⧵⧹╲⟍㇔丶",
  "=": "꞊⹀゠꓿═〓⚌",
  ":": "∶ː꞉˸։׃܃܄⁚᛬ꓽ፡᠃",
  ".": "․ꓸ܁܂꘎。",
  ",": "‚¸ˏ،٫ꓹ⸲⸴、",
  "%": "٪⁒",
}

/** The sign that a whole category looks like, if the table has no entry. */
const categories: ReadonlyArray<readonly [of: RegExp, like: string]> = [
  [/\p{Pd}/u, "-"],
  [/\p{Pc}/u, "_"],
  [/[\p{Pi}\p{Pf}]/u, '"'],
  [/[［〔【〖〘〚⁅❲⟦⟬⌈⌊⦋-⦐]/u, "["],
  [/[］〕】〗〙〛⁆❳⟧⟭⌉⌋]/u, "]"],
  [/[❴⦃]/u, "{"],
  [/[❵⦄]/u, "}"],
  [/\p{Ps}/u, "("],
  [/\p{Pe}/u, ")"],
]

/** Signs that are ordinary in a word with letters of the same writing system. */
const ordinary: ReadonlyArray<readonly [letters: RegExp, signs: RegExp]> = [
  [
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
    /[！（），：；？［］｛｝～．＆＃％＋「」『』【】〈〉《》〔〕。、〜ー・ノ一丨丶丿ㅡㅣ]/u,
  ],
  [/\p{Script=Arabic}/u, /[؛،؟٪٫٭۔]/u],
  [/\p{Script=Hebrew}/u, /[־׀׃׳״]/u],
  [/\p{Script=Armenian}/u, /[֊։՚՛՝]/u],
  [/\p{Script=Devanagari}/u, /[।ॽ]/u],
  [/\p{Script=Syriac}/u, /[܁-܄]/u],
  [/\p{Script=Nko}/u, /[ߊߴߵߺ]/u],
  [/\p{Script=Ethiopic}/u, /፡/u],
  [/\p{Script=Mongolian}/u, /[᠃᠆]/u],
  [/\p{Script=Tifinagh}/u, /[ⵏⵑⵌ]/u],
  [/\p{Script=Cherokee}/u, /Ꭾ/u],
]

/** The table by character. Made at the first use: most conversations ask no question. */
const exact = once(
  (): ReadonlyMap<string, string> =>
    new Map(
      Object.entries(table).flatMap(([ascii, chars]) =>
        Array.from(chars, (char) => [char, ascii] as const),
      ),
    ),
)

/** A sign that is itself a letter, such as the Han digit one, does not make itself ordinary. */
const isOrdinary = (char: string, word: string): boolean => {
  const others = Array.from(word).filter(
    (other) => /[\p{L}\p{N}]/u.test(other) && !exact().has(other),
  )
  return ordinary.some(
    ([letters, signs]) => signs.test(char) && others.some((other) => letters.test(other)),
  )
}

/** An apostrophe of prose: each one in the word has a letter on both sides. */
const isApostrophe = (char: string, word: string): boolean =>
  char === "’" && !/(?<!\p{L}\p{M}*)’|’(?!\p{L})/u.test(word)

/** A dash or an ellipsis of prose: a word by itself, with other words around it. */
const isPunctuation = (char: string, word: string, text: string): boolean =>
  /[—…]/.test(char) && word === char && text.trim() !== char

/** Superscripts and the like, which Unicode maps to ASCII too, but which are not mistaken for it. */
const raised = /[\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02b8\u02e0-\u02e3\u2070-\u209f\u2122\u2120]/

/** The ASCII text that this is a compatibility form of: of one letter or digit, or of a few signs such as `..`. */
const compatible = (char: string): string | undefined => {
  if (raised.test(char)) return undefined
  const plain = char.normalize("NFKC")
  return /^(?:[!-~]|[!-/:-@[-`{-~]{1,4})$/.test(plain) ? plain : undefined
}

/**
 * The ASCII character that one of another code looks like, as a sign or as a compatibility form.
 *
 * @param word what contains it, up to the next space or ASCII sign of a shell
 * @param text the whole text, which contains the word
 */
export const signLike = (char: string, word: string, text: string): string | undefined => {
  if (char <= "~") return undefined
  const like =
    compatible(char) ??
    exact().get(char.normalize("NFC")) ??
    categories.find(([of]) => of.test(char))?.[1]
  if (like === undefined || isOrdinary(char, word)) return undefined
  return isApostrophe(char, word) || isPunctuation(char, word, text) ? undefined : like
}
