/** The Gemini API, which gemini-cli uses at the address in `GOOGLE_GEMINI_BASE_URL`. */
import { events, textOf } from "./Events.ts"
import type { Wire } from "./ScriptedModel.ts"

interface Part {
  readonly functionResponse?: { readonly response?: { readonly output?: unknown } }
}

interface Body {
  readonly tools?: ReadonlyArray<{
    readonly functionDeclarations?: ReadonlyArray<{ readonly name: string }>
  }>
  readonly contents: ReadonlyArray<{ readonly parts?: ReadonlyArray<Part> }>
}

export const generateContent: Wire = {
  read: (path, body) => {
    const method = /:(generateContent|streamGenerateContent)\b/.exec(path)?.[1]
    if (method === undefined) return undefined
    const { contents, tools = [] } = body as Body
    const declarations = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    const parts = contents.flatMap((content) => content.parts ?? [])
    return {
      tools: declarations.map(({ name }) => name),
      toolCharacters: JSON.stringify(declarations).length,
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined
          ? []
          : [textOf(functionResponse.response?.output ?? functionResponse.response)],
      ),
      isStream: method === "streamGenerateContent",
    }
  },
  write: (step, isStream) => {
    const part =
      "say" in step ? { text: step.say } : { functionCall: { name: step.tool, args: step.args } }
    const response = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }
    return isStream ? events([response]) : JSON.stringify(response)
  },
  other: '{"totalTokens":1}',
}
