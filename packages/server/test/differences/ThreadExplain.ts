/** Parts of the predicates of the differences of app-server v2. */
import { at } from "../support/ThreadNames.ts"
import type { Mismatch } from "../support/Compare.ts"
import { type Explains, same } from "./Explain.ts"

export const version = "0.169.0"

/** The member of the message that only one of the programs sends. */
export const member = ({ original, ours }: Mismatch, ...path: ReadonlyArray<string>): unknown =>
  at(original ?? ours, ...path)

/** A whole message. */
export const whole =
  (
    kind: "missing" | "added",
    label: RegExp,
    accept: (mismatch: Mismatch) => boolean = () => true,
  ): Explains =>
  (m) =>
    m.kind === kind && m.path === "" && label.test(m.label) && accept(m)

/** A member of messages, whichever of the programs has it. */
export const inPath =
  (label: RegExp, path: RegExp, accept: (mismatch: Mismatch) => boolean = () => true): Explains =>
  (m) =>
    m.path !== "" && label.test(m.label) && path.test(m.path) && accept(m)

/** The response to that method is an error of the original and a result here. */
export const succeeds = (method: string): Explains => {
  const label = `response to ${method}`
  return (m) =>
    m.label === label &&
    ((m.kind === "missing" && m.path === "error") || (m.kind === "added" && m.path === "result"))
}

/** A result of the original is an error here, with a text that contains this one. */
export const failsWith =
  (text: string): Explains =>
  (m) =>
    (m.kind === "missing" && m.path === "result") ||
    (m.kind === "added" && m.path === "error" && String(at(m.ours, "message")).includes(text)) ||
    (m.kind === "changed" && m.path === "error.message" && String(m.ours).includes(text)) ||
    (m.kind === "changed" && m.path === "error.code") ||
    (m.kind === "added" && m.path === "error.data")

/** A text of an error that has changed. */
export const errorText = (
  accept: (original: string, ours: string) => boolean,
  label: RegExp = /^response to /,
): Explains =>
  inPath(
    label,
    /^error\.message$/,
    (m) => m.kind === "changed" && accept(String(m.original), String(m.ours)),
  )

/** The response is sent at another place among the notifications of its thread. */
export const placed = (method: string): Explains => {
  const label = `place of the response to ${method}`
  return (m) => m.label === label && m.path === ""
}

/** The same message is sent at another place: only its places are mismatches. */
export const moved =
  (label: RegExp): Explains =>
  (m) =>
    m.path === "" && label.test(m.label)

/** A value of the original and the one that is sent instead. */
export const from =
  (original: unknown, ours: unknown) =>
  (m: Mismatch): boolean =>
    m.kind === "changed" && same(m.original, original) && same(m.ours, ours)
