/** Helpers for edges of pure decoders: targets, checks, and mutations of texts that consist of parts. */
import * as Effect from "effect/Effect"
import type { SeededRandom } from "../../SeededRandom.ts"
import { concat, encode, mutateBytes, oneOf } from "../Bytes.ts"
import { type Edge, type FuzzLaw, type Target, type Verdict, Violation } from "../Edge.ts"
import { mutateJson } from "../JsonMutators.ts"

const utf8 = new TextDecoder()

/** The input as text; bytes that are not UTF-8 read as U+FFFD. */
export const textOf = (input: Uint8Array): string => utf8.decode(input)

/** Fails the input when a check does not hold. Equal inputs must give equal messages. */
export const expect = (holds: boolean, message: string, law: FuzzLaw = "L13"): void => {
  if (!holds) throw new Violation({ law, message })
}

const violationOf = (error: unknown): Violation =>
  error instanceof Violation
    ? error
    : new Violation({
        law: "L13",
        message: `throws ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
      })

/** A target that runs a plain function, which may throw a violation. */
export const pure = (run: (input: Uint8Array) => Verdict): Edge["open"] =>
  Effect.succeed<Target>({
    run: (input) => Effect.try({ try: () => run(input), catch: violationOf }),
  })

/** One mutation of the list of parts or of one part. */
const mutateParts = (
  parts: ReadonlyArray<string>,
  draws: SeededRandom,
  donors: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  if (parts.length === 0) return [oneOf(draws, donors)]
  const at = draws.below(parts.length)
  const part = parts[at] ?? ""
  const roll = draws.below(10)
  if (roll < 1) return parts.toSpliced(at, 1)
  if (roll < 3) return parts.toSpliced(draws.below(parts.length + 1), 0, part)
  if (roll < 5) return parts.toSpliced(draws.below(parts.length + 1), 0, oneOf(draws, donors))
  if (roll < 6) return parts.with(at, parts[draws.below(parts.length)] ?? "")
  const start = part.search(/[{[]/)
  const json = start < 0 ? undefined : mutateJson(part.slice(start), draws, oneOf(draws, donors))
  return parts.with(
    at,
    json === undefined
      ? textOf(mutateBytes(encode(part), draws, encode(oneOf(draws, donors))))
      : part.slice(0, start) + json,
  )
}

/**
 * Returns a mutation for inputs that consist of parts: lines, or blocks of lines. JSON at the end of a part remains JSON.
 *
 * @param separator between parts
 * @param corpus valid inputs, from which parts may be inserted
 */
export const mutateJoined = (separator: string, corpus: ReadonlyArray<Uint8Array>) => {
  const donors = corpus.flatMap((input) => textOf(input).split(separator))
  return (input: Uint8Array, draws: SeededRandom): Uint8Array => {
    let parts: ReadonlyArray<string> = textOf(input).split(separator)
    for (let times = 1 + draws.below(3); times > 0; times--) {
      parts = mutateParts(parts, draws, donors)
    }
    const mutated = encode(parts.join(separator))
    return draws.chance(0.05) ? concat(mutated, Uint8Array.of(draws.below(256))) : mutated
  }
}
