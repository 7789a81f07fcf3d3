/** How providers count tokens. */
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Schema from "effect/Schema"

/**
 * More tokens than any model has read, and few enough that the sum over a conversation stays exact.
 */
const maxTokens = 1e12

/** Numbers of tokens, as a provider reports them. */
export const Tokens = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(0),
  Schema.isLessThanOrEqualTo(maxTokens),
)

interface Counted {
  readonly input: number
  readonly cached: number | null | undefined
  readonly output: number
  readonly reasoning: number | null | undefined
  readonly total: number | null | undefined
}

/** Converts a provider's numbers; a missing total is the sum of input and output. */
export const usageOf = ({ input, cached, output, reasoning, total }: Counted): TokenUsage => ({
  input_tokens: input,
  cached_input_tokens: cached ?? 0,
  output_tokens: output,
  reasoning_output_tokens: reasoning ?? 0,
  total_tokens: total ?? input + output,
})
