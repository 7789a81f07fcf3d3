/** How providers say that a request is longer than the model takes. Pure. */

/** Of the Responses API and of gateways that follow it. */
const codes = new Set(["context_length_exceeded", "context_window_exceeded"])

// OpenAI and vLLM: "maximum context length is … tokens"; later "exceeds the context window"; Anthropic: "prompt is too
// long: … tokens"; llama.cpp: "exceeds the available context size"; Bedrock: "Input is too long".
const words = /maximum context length|context[ _](window|length|size)|(prompt|input) is too long/i

export const isOverflow = (code: string | null | undefined, text: string): boolean =>
  codes.has(code ?? "") || words.test(text)
