/** The choices that a simulated run makes: drawn from a seed and recorded, or repeated in part. Pure except for their state. */
import { SeededRandom } from "./SeededRandom.ts"

/** Makes choices. */
export interface Draws {
  /** An integer in [0, `end`). `simplest` is the choice of a run that nothing disturbs. */
  below(end: number, simplest: number): number
}

/** The choices of one run in order; undefined is the simplest choice. */
export type Choices = ReadonlyArray<number | undefined>

/** Records the choices that it makes, and makes those that were given; without any, all are drawn from the seed. */
export class RecordedDraws implements Draws {
  /** The choices that differ from the simplest one, and undefined for all others. */
  readonly choices: Array<number | undefined> = []
  private readonly random: SeededRandom
  private readonly given: Choices | undefined

  /** @param given choices to repeat; all later ones are the simplest */
  constructor(seed: number, given?: Choices) {
    this.random = new SeededRandom(seed)
    this.given = given
  }

  below(end: number, simplest: number): number {
    const wanted =
      this.given === undefined
        ? this.random.below(end)
        : (this.given[this.choices.length] ?? simplest)
    // A run whose earlier choices differ may have fewer alternatives here.
    const choice = wanted < end ? wanted : simplest
    this.choices.push(choice === simplest ? undefined : choice)
    return choice
  }
}

/** Number of choices that are not the simplest. */
export const disturbances = (choices: Choices): number =>
  choices.filter((choice) => choice !== undefined).length

/** Without the simplest choices at the end. */
const trimmed = (choices: Choices): Choices =>
  choices.slice(0, choices.findLastIndex((choice) => choice !== undefined) + 1)

/** Every list of choices with some of them made the simplest, the largest cuts first. */
const calmer = function* (choices: Choices): Generator<Choices> {
  const places = choices.flatMap((choice, i) => (choice === undefined ? [] : [i]))
  if (places.length > 0) yield []
  for (let size = places.length >> 1; size >= 1; size >>= 1) {
    for (let at = places.length - size; at > -size; at -= size) {
      const cut = new Set(places.slice(Math.max(0, at), at + size))
      yield trimmed(choices.map((choice, i) => (cut.has(i) ? undefined : choice)))
    }
  }
}

/** The result of the search for a simpler run. */
export interface Shortest {
  readonly choices: Choices
  /** Number of runs that were tried. */
  readonly tries: number
}

/**
 * Searches for choices with few disturbances with which `fails` still holds, in at most `maxTries` runs. Within that bound
 * every disturbance that is left is needed.
 */
export const shortestChoices = (
  choices: Choices,
  fails: (choices: Choices) => boolean,
  maxTries: number,
): Shortest => {
  let shortest = trimmed(choices)
  let tries = 0
  const once = (): boolean => {
    for (const candidate of calmer(shortest)) {
      if (tries >= maxTries) return false
      tries++
      if (!fails(candidate)) continue
      shortest = candidate
      return true
    }
    return false
  }
  while (once());
  return { choices: shortest, tries }
}
