/**
 * Compiles the tree of a pattern to instructions for a machine that is in many states at once (Thompson 1968). A counted
 * repetition is written out, so the number of instructions is bounded. Pure.
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
  /** `look`: index into `Programs.looks`. */
  | {
      readonly _tag: "Look"
      readonly look: number
      readonly negated: boolean
      readonly next: number
    }
  | { readonly _tag: "Match" }

/** The instructions of one expression, which reads forwards, or backwards from the end of the text. */
export interface Program {
  readonly instructions: ReadonlyArray<Instruction>
  readonly start: number
  readonly backwards: boolean
  /** True: it can match only at the start of the text. */
  readonly anchored: boolean
}

/** The program of a pattern, and those of its look-arounds. */
export interface Programs {
  readonly main: Program
  readonly looks: ReadonlyArray<Program>
}

/** Instructions of a pattern together with its look-arounds. */
const maxInstructions = 20_000

const tooLarge = () => new Refused(`compiles to more than ${maxInstructions} instructions`)

/** Writes the programs of one pattern. Throws `Refused` when they get too large. */
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
          // The repeated expression is empty: any number of repetitions is the same as none.
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

    /** Writes an expression that continues with the instruction `next`; gives its first instruction. */
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
          // A look-ahead is matched backwards from the end of the text, so that one pass finds it for all positions.
          const look = this.looks.push(this.program(of, !behind)) - 1
          return put({ _tag: "Look", look, negated, next })
        }
      }
    }

    const start = write(tree, put({ _tag: "Match" }))
    const first = instructions[start]
    const anchored = !backwards && first?._tag === "At" && first.where === "start"
    return { instructions, start, backwards, anchored }
  }
}

/** Compiles a tree; a failure says why the pattern is rejected. */
export const programsOf = (tree: PatternTree): Result.Result<Programs, string> =>
  orRefused(() => {
    const writer = new Writer()
    const main = writer.program(tree, false)
    return { main, looks: writer.looks }
  })
