import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { compile } from "../../src/pattern/Pattern.ts"

/** A budget that no test of this file reaches unless it is about the budget. */
const plenty = 10_000_000

const test = (source: string, text: string, left = plenty) =>
  Result.getOrThrow(compile(source)).test(text, { left })

const problem = (source: string): string =>
  Result.match(compile(source), { onSuccess: () => "none", onFailure: (text) => text })

const semver =
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$"
const uuid =
  "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"
const email = "^[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\\.)+[A-Za-z]{2,}$"
const dateTime =
  "^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})$"
const password = "^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{8,64}$"

const usual: ReadonlyArray<readonly [source: string, good: string, bad: string]> = [
  [uuid, "0199f0a0-0000-7000-8000-000000000001", "0199f0a0-0000-7000-8000-00000000000"],
  [semver, "1.2.3-rc.1+build.5", "1.2.03"],
  [email, "first.last+tag@mail.example.org", "first.last@mail"],
  [dateTime, "2026-11-21T05:55:00.123Z", "2026-13-21T05:55:00Z"],
  ["^\\d{4}-\\d{2}-\\d{2}$", "2026-11-21", "2026-1-21"],
  ["^https?://[^\\s/$.?#].[^\\s]*$", "https://a.example/b?c", "ftp://a.example"],
  ["^#(?:[0-9a-f]{3}){1,2}$", "#ffcc00", "#ffcc0"],
  ["^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$", "192.168.0.255", "192.168.0.256"],
  ["^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", "a-slug-2", "a--slug"],
  [password, "Passw0rdPassw0rd", "password1"],
  ["(?<=\\$)\\d+(?<!0)$", "costs $42", "costs 42"],
  ["^\\p{Lu}\\p{L}*$", "Émile", "émile"],
  ["^[\\s\\S]{1,5000}$", "x".repeat(5000), ""],
  ["\\bcat\\b", "the cat sat", "concatenate"],
]

const evil: ReadonlyArray<readonly [source: string, text: string]> = [
  ["(a+)+$", `${"a".repeat(50_000)}!`],
  ["^(a|a)*$", `${"a".repeat(50_000)}!`],
  ["^(a|aa)+$", `${"a".repeat(50_000)}!`],
  ["^(.*a){20}$", `${"a".repeat(2_000)}!`],
  ["^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$", `${"a".repeat(50_000)}!`],
  ["^(\\w+\\s?)*$", `${"word ".repeat(5_000)}!`],
  ["^(?:(?:a*)*)*b$", "a".repeat(20_000)],
  ["\\s*,\\s*$", " ".repeat(50_000)],
  ["^(?=(a+)+$).*b$", `${"a".repeat(20_000)}!`],
  ["(?<!(a+)+)b$", "a".repeat(20_000)],
]

describe("a common pattern", () => {
  it.each(usual)("%s", (source, good, bad) => {
    assert.deepStrictEqual([test(source, good), test(source, bad)], [true, false])
  })
})

describe("L13 a pattern that a backtracking engine would not finish", () => {
  it.each(evil)("%s does not match, and that is found quickly", (source, text) => {
    assert.strictEqual(test(source, text), false)
  })

  it("is abandoned when the budget is used up", () => {
    assert.strictEqual(test("^(.*a){20}$", "a".repeat(2_000), 10_000), undefined)
    assert.strictEqual(test("x", "a".repeat(2_000), 1_000), undefined)
    assert.strictEqual(test("(?=a)".repeat(500), "a".repeat(2_000), 100_000), undefined)
  })

  it.each<readonly [source: string, words: string]>([
    ["(", "is not a valid regular expression"],
    ["(a)\\1", "contains a back-reference"],
    ["(?<n>a)\\k<n>", "contains a back-reference"],
    ["(?i:a)", "contains inline flags"],
    ["a".repeat(20_000), "is longer than 16384 characters"],
    [`${"(".repeat(100)}a${")".repeat(100)}`, "has groups nested more than 64 levels deep"],
    ["a{50000}", "compiles to more than 20000 instructions"],
    ["(?:(?:a{100}){100}){100}", "compiles to more than 20000 instructions"],
    ["(?:(?=a{100}){100})", "is not a valid regular expression"],
  ])("%.40s is rejected", (source, words) => {
    assert.strictEqual(problem(source), words)
  })

  it("compiles repetitions of an empty expression to nothing", () => {
    assert.deepStrictEqual(
      [test("^(?:){999999999}$", ""), test("^(?:){0,999999999}a$", "a"), test("(?:){5,}", "")],
      [true, true, true],
    )
  })
})

/** Seeded random numbers (mulberry32). */
const draws = (start: number) => {
  let seed = start
  return (end: number) => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % end
  }
}

const pick = <A>(draw: (end: number) => number, ...of: ReadonlyArray<A>): A =>
  of[draw(of.length)] as A

const patternOf = (draw: (end: number) => number, depth: number): string => {
  const inner = () => patternOf(draw, depth - 1)
  if (depth === 0 || draw(4) === 0) {
    const sources = ["a", "b", "c", ".", "[ab]", "[^a]", "\\d", "\\w", "\\n", "\\u{1F600}", "😀"]
    return pick(draw, ...sources, "^", "$", "\\b", "\\B", "[\\]\\-x]", "\\uD83D\\uDE00", "")
  }
  switch (draw(8)) {
    case 0:
      return `${inner()}|${inner()}`
    case 1:
      return `(?:${inner()})${pick(draw, "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "{1,3}?")}`
    case 2:
      return `(${pick(draw, "", "?<n>", "?:")}${inner()})`.replace(
        "?<n>",
        depth === 3 ? "?<n>" : "",
      )
    case 3:
      return `(${pick(draw, "?=", "?!", "?<=", "?<!")}${inner()})`
    default:
      return inner() + inner()
  }
}

describe("a pattern gives the platform's result", () => {
  it("for 20,000 random patterns and texts", () => {
    const draw = draws(7)
    let compared = 0
    for (let i = 0; i < 20_000; i++) {
      const source = patternOf(draw, 4)
      let platform: RegExp
      try {
        platform = new RegExp(source, "u")
      } catch {
        continue
      }
      const letters = ["a", "b", "c", "1", "\n", "-", "é"]
      // The platform evaluates look-arounds in the middle of a character of two code units.
      if (!/\(\?[=!<]|\\[bB]/.test(source)) letters.push("😀", "\uD83D")
      const text = Array.from({ length: draw(7) }, () => pick(draw, ...letters)).join("")
      compared++
      assert.strictEqual(
        test(source, text),
        platform.test(text),
        `${source} on ${JSON.stringify(text)}`,
      )
    }
    assert.isAbove(compared, 15_000)
  })
})
