/** Finds a misspelt key of an options object, for programs without types. Pure. */
import { nearest } from "./Nearest.ts"

/** A key that nothing reads. */
export interface UnknownKey {
  readonly key: string
  /** The known key that is spelt most like it. */
  readonly meant?: string
  /** For an error: what was meant, or what is known. */
  readonly hint: string
}

/** The first key of the object that is not known; undefined when all are. */
export const unknownKey = (
  object: object,
  known: ReadonlyArray<string>,
): UnknownKey | undefined => {
  const key = Object.keys(object).find((name) => !known.includes(name))
  if (key === undefined) return undefined
  const meant = nearest(key, known)
  return meant === undefined
    ? { key, hint: `expected one of ${known.join(", ")}` }
    : { key, meant, hint: `did you mean \`${meant}\`?` }
}
