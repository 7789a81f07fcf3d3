/** Facts about a model that follow from its name. Pure. */

/** Context windows in tokens, by prefix of the name. The first match counts. */
const contextWindows: ReadonlyArray<readonly [prefix: string, tokens: number]> = [
  ["o3", 200_000],
  ["o4-mini", 200_000],
  ["codex-mini-latest", 200_000],
  ["gpt-4.1", 1_047_576],
  ["gpt-4o", 128_000],
  ["gpt-3.5-turbo", 16_385],
  ["gpt-oss", 96_000],
  ["gpt-5", 272_000],
  ["codex-", 272_000],
]

/** The name without the provider before it (`openai/gpt-5`), in lower case. */
const baseName = (model: string): string => model.slice(model.lastIndexOf("/") + 1).toLowerCase()

/** The context window in tokens; null for an unknown model. */
export const contextWindowOf = (model: string): number | null =>
  contextWindows.find(([prefix]) => baseName(model).startsWith(prefix))?.[1] ?? null

/** Families with reasoning. Other models reject or ignore the member; `model_supports_reasoning_summaries` overrides this. */
const reasons = /^(o\d|gpt-[5-9]|gpt-oss|codex-)/

/** True for a model that accepts a reasoning effort and returns summaries of its reasoning. */
export const hasReasoning = (model: string): boolean => reasons.test(baseName(model))
