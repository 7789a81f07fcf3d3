/** Recognizes how providers report that a request exceeds the model's context window. Pure. */

/** Codes of the Responses API and of gateways that follow it. */
const codes = new Set(["context_length_exceeded", "context_window_exceeded"])

// OpenAI and vLLM: "maximum context length is … tokens"; later "exceeds the context window";
// Anthropic: "prompt is too
// long: … tokens"; llama.cpp: "exceeds the available context size"; Bedrock: "Input is too long".
const words = /maximum context length|context[ _](window|length|size)|(prompt|input) is too long/i

/** True when a code or a message means that the request is too long. */
export const isOverflow = (code: string | null | undefined, text: string): boolean =>
  codes.has(code ?? "") || words.test(text)
