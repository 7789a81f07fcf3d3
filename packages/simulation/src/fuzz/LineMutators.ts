/** Mutations of texts with one JSON value per line, such as message streams and logs: of whole lines and of values in them. */
import type { SeededRandom } from "../SeededRandom.ts"
import { encode, mutateBytes, oneOf } from "./Bytes.ts"
import { mutateJson } from "./JsonMutators.ts"

const ends = ["\n", "\r\n", "\n\n", "\r", " \n", "\n\t\n", "\u2028", ""]

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (input: Uint8Array): string | undefined => {
  try {
    return utf8.decode(input)
  } catch {
    return undefined
  }
}

const changeLine = (line: string, draws: SeededRandom, donors: ReadonlyArray<string>): string => {
  let out = line
  for (let times = draws.chance(0.7) ? 1 : 1 + draws.below(3); times > 0; times--) {
    out = mutateJson(out, draws, oneOf(draws, donors)) ?? out
  }
  return out
}

/** Several lines as the members of one array. */
const batch = (lines: ReadonlyArray<string>, draws: SeededRandom): ReadonlyArray<string> => {
  const from = draws.below(lines.length)
  const count = 1 + draws.below(lines.length - from)
  return lines.toSpliced(from, count, `[${lines.slice(from, from + count).join(",")}]`)
}

const cut = (line: string, draws: SeededRandom): string => {
  const at = draws.below(line.length + 1)
  return `${line.slice(0, at)}${oneOf(draws, ends)}${line.slice(at)}`
}

const changeLines = (
  lines: ReadonlyArray<string>,
  draws: SeededRandom,
  donors: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const at = draws.below(Math.max(1, lines.length))
  const line = lines[at] ?? ""
  const roll = draws.below(100)
  if (roll < 55) return lines.with(at, changeLine(line, draws, donors))
  if (roll < 63) return lines.toSpliced(at, 1)
  if (roll < 70) return lines.toSpliced(draws.below(lines.length + 1), 0, line)
  if (roll < 80) {
    const donor = oneOf(draws, donors)
    const other = draws.chance(0.7) ? changeLine(donor, draws, donors) : donor
    return lines.toSpliced(draws.below(lines.length + 1), 0, other)
  }
  if (roll < 85) return batch(lines, draws)
  if (roll < 88) return lines.with(at, cut(line, draws))
  if (roll < 91) return lines.with(at, `${line}${lines[at + 1] ?? ""}`)
  if (roll < 94) return lines.with(at, `${line}\r`)
  if (roll < 96) return lines.with(at, `\ufeff${line}`)
  const other = draws.below(lines.length)
  return lines.with(at, lines[other] ?? line).with(other, line)
}

/**
 * Returns a mutation for inputs of JSON lines.
 *
 * @param donors lines that may be inserted, whole or in parts; at least one
 */
export const mutateLines =
  (donors: ReadonlyArray<string>) =>
  (input: Uint8Array, draws: SeededRandom): Uint8Array => {
    const text = textOf(input)
    if (text === undefined) return mutateBytes(input, draws, encode(oneOf(draws, donors)))
    const lines = text.split("\n").filter((line) => line !== "")
    if (lines.length === 0) return encode(`${oneOf(draws, donors)}\n`)
    const changed = changeLines(lines, draws, donors).join("\n")
    return encode(draws.chance(0.95) ? `${changed}\n` : changed)
  }
