/** How providers count tokens. */
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import { isObject, type JsonObject } from "./JsonObject.ts"

/**
 * More tokens than any model has read, and few enough that the sum over a conversation stays exact.
 */
const maxTokens = 1e12

/** Where a wire states its numbers of tokens. */
export interface UsageNames {
  readonly input: string
  readonly output: string
  /** Object with `cached_tokens`. */
  readonly inputDetails: string
  /** Object with `reasoning_tokens`. */
  readonly outputDetails: string
  /** True when null stands for an absent number. */
  readonly allowsNull: boolean
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= maxTokens

/** A number that may be absent; false for anything else. */
const optionalCount = (value: unknown, allowsNull: boolean): number | undefined | false => {
  if (value === undefined || (allowsNull && value === null)) return undefined
  return isCount(value) ? value : false
}

const detailOf = (
  details: unknown,
  name: string,
  allowsNull: boolean,
): number | undefined | false => {
  if (details === undefined || details === null) return undefined
  return isObject(details) ? optionalCount(details[name], allowsNull) : false
}

/**
 * Reads a provider's numbers without a schema, because the first use of one takes longer than a whole response. Undefined
 * when one of them is missing or no number of tokens; unreadable usage never fails a response. A missing total is the sum
 * of input and output.
 */
export const readUsage = (u: unknown, names: UsageNames): TokenUsage | undefined => {
  if (!isObject(u)) return undefined
  const { allowsNull } = names
  const members: JsonObject = u
  const { [names.input]: input, [names.output]: output } = members
  const cached = detailOf(members[names.inputDetails], "cached_tokens", allowsNull)
  const reasoning = detailOf(members[names.outputDetails], "reasoning_tokens", allowsNull)
  const total = optionalCount(members["total_tokens"], allowsNull)
  if (!isCount(input) || !isCount(output)) return undefined
  if (cached === false || reasoning === false || total === false) return undefined
  return {
    input_tokens: input,
    cached_input_tokens: cached ?? 0,
    output_tokens: output,
    reasoning_output_tokens: reasoning ?? 0,
    total_tokens: total ?? input + output,
  }
}
