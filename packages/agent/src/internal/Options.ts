/**
 * Checks options that types cannot exclude in every program. A `Kind` says what a value has to be; `options` makes one of a
 * table with a kind for each key, which the type of the options keeps complete. Keys that the table lacks are refused, so
 * that a misspelt option is never silently absent.
 */
import { type UnknownKey, unknownKey } from "@colloquy/protocol/UnknownKey"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { BadOption, UnknownOption } from "./OptionErrors.ts"

/** Why a value is not of a kind; `path` leads to it within the value that was checked. */
type Fault = { readonly path: ReadonlyArray<string> } & (
  | { readonly expected: string; readonly got: string }
  | { readonly unknown: UnknownKey; readonly known: ReadonlyArray<string> }
)

/** Finds the first fault of a value; undefined: it is of this kind. */
export type Kind = (value: unknown) => Fault | undefined

const maxShownChars = 64

/** A value as an error shows it: texts and numbers as they are, of anything else what it is. */
export const shown = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.slice(0, maxShownChars))
  if (typeof value === "function") return "a function"
  if (typeof value !== "object" || value === null) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array"
  if (Predicate.isPromiseLike(value)) return "a promise"
  return "an object"
}

/** The values that this test accepts. @param expected what they are, as in `expected a text` */
export const is =
  (
    expected: string,
    accepts: (value: unknown) => boolean,
    show: (value: unknown) => string = shown,
  ): Kind =>
  (value) =>
    accepts(value) ? undefined : { path: [], expected, got: show(value) }

/** Values of this kind, or none. */
export const optional =
  (kind: Kind): Kind =>
  (value) =>
    value === undefined ? undefined : kind(value)

/** Any text. */
export const text: Kind = is("a text", Predicate.isString)

/** A text that says something. */
export const named = (expected: string): Kind =>
  is(expected, (value) => typeof value === "string" && value.trim() !== "")

/** True or false. */
export const flag: Kind = is("true or false", Predicate.isBoolean)

/** A function. */
export const func: Kind = is("a function", Predicate.isFunction)

/** A `Duration.Input` from 0 on. */
export const duration: Kind = is(
  'a duration, such as 500 (milliseconds) or "2 minutes"',
  (value) =>
    !Number.isNaN(value) &&
    Option.exists(
      Duration.fromInput(value as Duration.Input),
      (one) => Duration.toMillis(one) >= 0,
    ),
)

/** A number that limits something. */
export const limit: Kind = is(
  "a number from 0 on",
  (value) => typeof value === "number" && value >= 0 && value < Infinity,
)

/** A schema of Effect. */
export const schema: Kind = is("a schema", Schema.isSchema)

/** A layer. */
export const layer: Kind = is("a layer", Layer.isLayer)

/** One of the literals of a schema. */
export const oneOf = ({ literals }: { readonly literals: ReadonlyArray<unknown> }): Kind =>
  is(`one of ${literals.join(", ")}`, (value) => literals.includes(value))

/** An object that a function of `Agent` has made, by the key that only such objects have. */
export const made = (expected: string, key: string): Kind =>
  is(expected, (value) => Predicate.hasProperty(value, key))

const within = (key: string, fault: Fault | undefined): Fault | undefined =>
  fault && { ...fault, path: [key, ...fault.path] }

/** The first fault among the members of a value, in order. */
const firstFault = (
  members: Iterable<readonly [key: string, kind: Kind, value: unknown]>,
): Fault | undefined => {
  for (const [key, kind, value] of members) {
    const fault = within(key, kind(value))
    if (fault !== undefined) return fault
  }
  return undefined
}

/** An array whose members are of this kind. @param expected what the array is */
export const listOf =
  (expected: string, kind: Kind): Kind =>
  (value) =>
    Array.isArray(value)
      ? firstFault(value.map((member, i) => [String(i), kind, member]))
      : { path: [], expected, got: shown(value) }

/** An object whose members are of this kind, whatever their keys. */
export const recordOf =
  (expected: string, kind: Kind): Kind =>
  (value) =>
    Predicate.isObject(value)
      ? firstFault(Object.entries(value).map(([key, member]) => [key, kind, member]))
      : { path: [], expected, got: shown(value) }

/** A kind for each key of an options type. */
export type Kinds<T> = { readonly [K in keyof T]-?: Kind }

/** An object of options, as `satisfies Kinds<T>` keeps the table of them complete. */
export const options = (kinds: Readonly<Record<string, Kind>>): Kind => {
  const table = Object.entries(kinds)
  const known = table.map(([key]) => key)
  return (value) => {
    if (!Predicate.isObject(value)) {
      return { path: [], expected: `an object of options: ${known.join(", ")}`, got: shown(value) }
    }
    const unknown = unknownKey(value, known)
    if (unknown !== undefined) return { path: [], unknown, known }
    const given: Readonly<Record<string, unknown>> = value
    return firstFault(table.map(([key, kind]) => [key, kind, given[key]]))
  }
}

/** Throws `UnknownOption` or `BadOption` unless the value is of this kind. @param of the function that got it, as it is called */
export const checkOptions = (of: string, kind: Kind, value: unknown): void => {
  const fault = kind(value)
  if (fault === undefined) return
  const place = [of, fault.path.join(".")].filter(Boolean).join(" ")
  if ("expected" in fault) {
    const { expected, got } = fault
    throw new BadOption({ option: place, expected, got })
  }
  const { key, meant } = fault.unknown
  throw new UnknownOption({
    of: place,
    key,
    known: fault.known,
    ...(meant === undefined ? {} : { meant }),
  })
}
