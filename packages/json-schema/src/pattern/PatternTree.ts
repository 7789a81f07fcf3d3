/**
 * Parses a regular expression to a tree. It is given only patterns that the platform's own parser accepted (flag `u`), so
 * it does not check their syntax; a construct that cannot be matched in linear time is rejected by its name. Pure.
 */
import * as Result from "effect/Result"

/** Decides whether an expression for one character matches it. A character is a code point. */
export type IsCharacter = (character: string) => boolean

/** A parsed pattern. */
export type PatternTree =
  | { readonly _tag: "Character"; readonly is: IsCharacter }
  | { readonly _tag: "Sequence"; readonly items: ReadonlyArray<PatternTree> }
  | { readonly _tag: "Either"; readonly of: ReadonlyArray<PatternTree> }
  /** `max` is `Infinity` for an unbounded repetition. */
  | {
      readonly _tag: "Repeat"
      readonly of: PatternTree
      readonly min: number
      readonly max: number
    }
  | { readonly _tag: "At"; readonly where: "start" | "end" | "edge" | "inside" }
  | {
      readonly _tag: "Look"
      readonly of: PatternTree
      readonly behind: boolean
      readonly negated: boolean
    }

/** UTF-16 code units of a pattern; no pattern that a person writes is longer. */
const maxLength = 16_384
const maxDepth = 64

/** Why a pattern is rejected. Thrown and caught within this folder only, from deep within a pattern. */
export class Refused {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** The result of `make`; a failure is the reason of the `Refused` that it threw. */
export const orRefused = <A>(make: () => A): Result.Result<A, string> => {
  try {
    return Result.succeed(make())
  } catch (refused) {
    if (refused instanceof Refused) return Result.fail(refused.reason)
    throw refused
  }
}

/** Remembers the platform's result for every ASCII character. */
const remembered = (is: IsCharacter): IsCharacter => {
  const known: Array<boolean | undefined> = []
  return (character) => {
    const code = character.charCodeAt(0)
    return code < 128 ? (known[code] ??= is(character)) : is(character)
  }
}

/** A class, an escape or a dot: the platform's own meaning is used. */
const ofSource = (source: string): PatternTree => {
  const one = new RegExp(`^${source}$`, "u")
  return { _tag: "Character", is: remembered((character) => one.test(character)) }
}

const literal = (character: string): PatternTree => ({
  _tag: "Character",
  is: (other) => other === character,
})

const assertions = [
  ["^", "start"],
  ["$", "end"],
  ["\\b", "edge"],
  ["\\B", "inside"],
] as const

const looks = [
  ["(?=", false, false],
  ["(?!", false, true],
  ["(?<=", true, false],
  ["(?<!", true, true],
] as const

/** One escape; below it, one class. */
const escape =
  /\\(?:u\{[0-9A-Fa-f]+\}|u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\}|[^])/y
const characterClass = /\[(?:[^\]\\]|\\[^])*\]/y
const quantifier = /(?:([*+?])|\{(\d+)(,)?(\d*)\})\??/y

/** A recursive descent over the source of a pattern. */
class Reader {
  private at = 0
  private readonly source: string
  constructor(source: string) {
    this.source = source
  }

  private take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  private match(of: RegExp): RegExpExecArray | null {
    of.lastIndex = this.at
    const found = of.exec(this.source)
    if (found !== null) this.at = of.lastIndex
    return found
  }

  /** Parses alternatives up to the end of the pattern or of the group. */
  either(depth: number): PatternTree {
    if (depth > maxDepth) throw new Refused(`has groups nested more than ${maxDepth} levels deep`)
    const of: Array<PatternTree> = []
    do of.push(this.sequence(depth))
    while (this.take("|"))
    return of.length === 1 && of[0] !== undefined ? of[0] : { _tag: "Either", of }
  }

  private sequence(depth: number): PatternTree {
    const items: Array<PatternTree> = []
    while (this.at < this.source.length && !/[|)]/.test(this.source.charAt(this.at))) {
      items.push(this.quantified(this.term(depth)))
    }
    return { _tag: "Sequence", items }
  }

  private quantified(of: PatternTree): PatternTree {
    const found = this.match(quantifier)
    if (found === null) return of
    const [, sign, least, comma, most] = found
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0
    const only = sign === "?" ? 1 : Number.POSITIVE_INFINITY
    const bound = most === undefined || most === "" ? Number.POSITIVE_INFINITY : Number(most)
    const max = sign === undefined ? (comma === undefined ? min : bound) : only
    return { _tag: "Repeat", of, min, max }
  }

  private group(depth: number): PatternTree {
    const inner = this.either(depth + 1)
    this.take(")")
    return inner
  }

  private term(depth: number): PatternTree {
    for (const [text, where] of assertions) if (this.take(text)) return { _tag: "At", where }
    for (const [text, behind, negated] of looks) {
      if (this.take(text)) return { _tag: "Look", behind, negated, of: this.group(depth) }
    }
    if (this.take("(")) {
      if (this.take("?<")) this.match(/[^>]*>/y)
      else if (this.take("?") && !this.take(":")) throw new Refused("contains inline flags")
      return this.group(depth)
    }
    if (this.take(".")) return ofSource(".")
    const source = (this.match(characterClass) ?? this.match(escape))?.[0]
    if (source === undefined) return literal(this.match(/[^]/uy)?.[0] ?? "")
    if (/^\\(?:[1-9]|k)/.test(source)) throw new Refused("contains a back-reference")
    return ofSource(source)
  }
}

/** Parses a pattern; a failure says why it is rejected. */
export const read = (source: string): Result.Result<PatternTree, string> =>
  source.length > maxLength
    ? Result.fail(`is longer than ${maxLength} characters`)
    : orRefused(() => new Reader(source).either(0))
