/**
 * A pattern's tree as instructions for a machine that is in many places at once (Thompson 1968). Counted repeats are
 * written out, so their size is bounded. Pure.
 */
import type * as Result from "effect/Result"
import { type IsCharacter, orRefused, type PatternTree, Refused } from "./PatternTree.ts"

type Instruction =
  | { readonly _tag: "Character"; readonly is: IsCharacter; readonly next: number }
  | { readonly _tag: "Fork"; readonly first: number; second: number }
  | {
      readonly _tag: "At"
      readonly where: Extract<PatternTree, { _tag: "At" }>["where"]
      readonly next: number
    }
  /** `look`: the place among those of the pattern. */
  | {
      readonly _tag: "Look"
      readonly look: number
      readonly negated: boolean
      readonly next: number
    }
  | { readonly _tag: "Match" }

/** Reads forwards, or backwards from the end. */
export interface Program {
  readonly instructions: ReadonlyArray<Instruction>
  readonly start: number
  readonly backwards: boolean
  /** Begins at the very start of a text, or nowhere. */
  readonly anchored: boolean
}

export interface Programs {
  readonly main: Program
  readonly looks: ReadonlyArray<Program>
}

/** Of a pattern with all it looks for ahead and behind. */
const maxInstructions = 20_000

const tooLarge = () => new Refused(`written out has more than ${maxInstructions} steps`)

class Writer {
  readonly looks: Array<Program> = []
  private written = 0

  program(tree: PatternTree, backwards: boolean): Program {
    const instructions: Array<Instruction> = []
    const put = (instruction: Instruction): number => {
      if (++this.written > maxInstructions) throw tooLarge()
      return instructions.push(instruction) - 1
    }

    const repeat = ({ max, min, of }: Extract<PatternTree, { _tag: "Repeat" }>, next: number) => {
      let first = next
      if (max === Number.POSITIVE_INFINITY) {
        const fork = { _tag: "Fork" as const, first: next, second: next }
        first = put(fork)
        fork.second = write(of, first)
      } else {
        for (let i = min; i < max; i++) {
          const body = write(of, first)
          // Of nothing there may be as much as anybody likes.
          if (body === first) break
          first = put({ _tag: "Fork", first: next, second: body })
        }
      }
      for (let i = 0; i < min; i++) {
        const body = write(of, first)
        if (body === first) break
        first = body
      }
      return first
    }

    /** Where it begins, with what comes behind it. */
    const write = (node: PatternTree, next: number): number => {
      switch (node._tag) {
        case "Character":
          return put({ _tag: "Character", is: node.is, next })
        case "At":
          return put({ _tag: "At", where: node.where, next })
        case "Sequence":
          return (backwards ? node.items : node.items.toReversed()).reduce(
            (behind, item) => write(item, behind),
            next,
          )
        case "Either":
          return node.of
            .map((one) => write(one, next))
            .reduce((first, second) => put({ _tag: "Fork", first, second }))
        case "Repeat":
          return repeat(node, next)
        case "Look": {
          const { behind, negated, of } = node
          // What lies ahead is found from the end on, so that every place is looked at once.
          const look = this.looks.push(this.program(of, !behind)) - 1
          return put({ _tag: "Look", look, negated, next })
        }
      }
    }

    const start = write(tree, put({ _tag: "Match" }))
    const begin = instructions[start]
    const anchored = !backwards && begin?._tag === "At" && begin.where === "start"
    return { instructions, start, backwards, anchored }
  }
}

/** The instructions, or why there are none. */
export const programsOf = (tree: PatternTree): Result.Result<Programs, string> =>
  orRefused(() => {
    const writer = new Writer()
    const main = writer.program(tree, false)
    return { main, looks: writer.looks }
  })
