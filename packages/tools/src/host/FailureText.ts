/** What the model reads of a failed call, and the JSON text of a result. Pure. */
import * as Predicate from "effect/Predicate"

/** Members of every error that say nothing about this one. */
const ofEveryError: ReadonlySet<string> = new Set(["_tag", "name", "message", "stack", "cause"])

/** The JSON text, null for undefined; undefined for a value that has none. */
export const jsonText = (
  value: unknown,
  replace?: (key: string, value: unknown) => unknown,
): string | undefined => {
  try {
    return JSON.stringify(value, replace) ?? "null"
  } catch {
    return undefined
  }
}

const withBigInts = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value

/** The tag and the fields of an error without a message. */
const taggedText = (error: object, tag: string): string => {
  const fields = Object.entries(error).filter(([name]) => !ofEveryError.has(name))
  const text = fields.length === 0 ? undefined : jsonText(Object.fromEntries(fields), withBigInts)
  return text === undefined ? tag : `${tag} ${text}`
}

/** The message of an error, else its tag and fields, else its JSON text. */
export const failureText = (error: unknown): string => {
  if (Predicate.isObject(error)) {
    const { _tag: tag, message, name } = error as Readonly<Record<string, unknown>>
    if (typeof message === "string" && message !== "") return message
    if (typeof tag === "string") return taggedText(error, tag)
    if (error instanceof Error && typeof name === "string") return taggedText(error, name)
  }
  if (error === undefined || error === null || error === "") return "no reason was given"
  if (typeof error === "string" || typeof error === "bigint") return String(error)
  return jsonText(error, withBigInts) ?? "a value without a JSON form"
}
