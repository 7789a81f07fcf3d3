/**
 * Regular expressions for patterns and texts that are not trusted. Matching takes time proportional to the length of the
 * text times the length of the pattern, whatever both are: there is no backtracking. A pattern that cannot be matched so
 * (one with back-references) is rejected when it is compiled. The result is that of the platform's `RegExp` with the flag
 * `u`, without its groups. Keeps L13.
 */
import * as Result from "effect/Result"
import { type Program, type Programs, programsOf } from "./PatternProgram.ts"
import { read } from "./PatternTree.ts"

/** Steps that may still be used; shared by all patterns in the check of one value. Counted down by every test. */
export interface Budget {
  left: number
}

/** A compiled pattern. */
export interface Pattern {
  /** True when it matches anywhere in the text; undefined when the budget was used up before that was known. */
  readonly test: (text: string, budget: Budget) => boolean | undefined
}

/** Cost of a test before its first step, in steps. */
const perTest = 50

const isWord = (character: string | undefined): boolean =>
  character !== undefined && /^\w$/.test(character)

/** Runs programs over one text: all states of a program advance together, one character at a time (Thompson 1968). */
class Machine {
  private readonly characters: ReadonlyArray<string>
  private readonly budget: Budget
  private readonly looks: ReadonlyArray<Program>
  /** Per look-around: the positions where it matches. Computed with its first use. */
  private readonly seen: Array<Uint8Array> = []

  constructor(text: string, looks: ReadonlyArray<Program>, budget: Budget) {
    this.characters = Array.from(text)
    this.looks = looks
    this.budget = budget
  }

  private isAt(where: "start" | "end" | "edge" | "inside", place: number): boolean {
    if (where === "start") return place === 0
    if (where === "end") return place === this.characters.length
    const edge = isWord(this.characters[place - 1]) !== isWord(this.characters[place])
    return edge === (where === "edge")
  }

  private finds(look: number, place: number): boolean {
    const program = this.looks[look]
    if (program === undefined || this.budget.left <= 0) return false
    const found = (this.seen[look] ??= this.ends(program, false))
    return found[place] === 1
  }

  /**
   * 1 at each position where a match ends, or starts when the program reads backwards. With `first`, only the first match
   * is looked for.
   */
  ends({ anchored, backwards, instructions, start }: Program, first: boolean): Uint8Array {
    const { budget, characters } = this
    const { length } = characters
    budget.left -= length
    const found = new Uint8Array(length + 1)
    const last = new Int32Array(instructions.length).fill(-1)
    let here: Array<number> = []
    let next: Array<number> = []
    const open: Array<number> = []
    /** Adds the states that can be reached without reading a character; true when one of them is a match. */
    const reach = (from: number, step: number, place: number): boolean => {
      let match = false
      open.push(from)
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        if (last[at] === step) continue
        last[at] = step
        budget.left--
        const instruction = instructions[at]
        switch (instruction?._tag) {
          case "Character":
            here.push(at)
            break
          case "Fork":
            open.push(instruction.first, instruction.second)
            break
          case "At":
            if (this.isAt(instruction.where, place)) open.push(instruction.next)
            break
          case "Look":
            if (this.finds(instruction.look, place) !== instruction.negated) {
              open.push(instruction.next)
            }
            break
          default:
            match = true
        }
      }
      return match
    }
    for (let step = 0; step <= length && budget.left > 0; step++) {
      const place = backwards ? length - step : step
      let match = false
      const before = next
      next = here
      here = before
      here.length = 0
      const character = step === 0 ? undefined : characters[backwards ? place : place - 1]
      for (const at of next) {
        const instruction = instructions[at]
        budget.left--
        if (instruction?._tag === "Character" && character !== undefined) {
          if (instruction.is(character)) match = reach(instruction.next, step, place) || match
        }
      }
      if (!anchored || step === 0) match = reach(start, step, place) || match
      if (match) found[place] = 1
      if ((match && first) || (anchored && here.length === 0)) return found
    }
    return found
  }
}

/** The test of a compiled pattern. */
const test =
  ({ looks, main }: Programs): Pattern["test"] =>
  (text, budget) => {
    // Splitting the text into characters and creating the machine.
    budget.left -= text.length + perTest
    if (budget.left <= 0) return undefined
    const found = new Machine(text, looks, budget).ends(main, true).includes(1)
    return budget.left > 0 ? found : undefined
  }

/** Compiles a pattern; a failure says why it is rejected. */
export const compile = (source: string): Result.Result<Pattern, string> =>
  Result.try({
    try: () => new RegExp(source, "u"),
    catch: () => "is not a valid regular expression",
  }).pipe(
    Result.flatMap(() => read(source)),
    Result.flatMap(programsOf),
    Result.map((programs) => ({ test: test(programs) })),
  )
