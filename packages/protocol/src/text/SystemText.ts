/** Texts that are given to the operating system, which ends each of them at the first NUL. Pure. */
import * as Schema from "effect/Schema"
import type { Fault } from "../Faults.ts"

const expected = "expected text without a NUL character"

/** A path, or a word of a command: text without NUL, of which the operating system would read only the beginning. */
export const SystemText = Schema.String.check(
  Schema.makeFilter((text) => (text.includes("\0") ? expected : undefined)),
)

/** True for the fault of a text with a NUL. */
export const isNulFault = ({ message }: Fault): boolean => message === expected
