/**
 * Builds the environment of a command from the environment of the server and the policy of the conversation. Pure. Keys
 * of model providers are removed last, so that no setting brings them back: a command is written by the model, and its
 * output goes to the model.
 */
import type { ShellEnvironment } from "@colloquy/core/ConversationSettings"
import { hasSecretGitSetting, isGitSetting } from "./GitSettingVariables.ts"
import { isSecretVariable } from "./SecretVariables.ts"

/** What besides the policy decides about the environment of a command. */
export interface EnvironmentOptions {
  /** True when the command may not use the network; the command sees `CODEX_SANDBOX_NETWORK_DISABLED=1`. */
  readonly networkDisabled: boolean
  /** Names of variables that hold keys of model providers: the `env_key` of each provider. */
  readonly providerKeyNames: ReadonlyArray<string>
  /** The command sees it as `CODEX_THREAD_ID`. */
  readonly conversationId?: string
}

/** Variables of `inherit = "core"`, as in the original. Compared without case, because Windows has `Path`. */
const coreNames = [
  "HOME",
  "LOGNAME",
  "PATH",
  "SHELL",
  "USER",
  "USERNAME",
  "TMPDIR",
  "TEMP",
  "TMP",
] as const

/** Names known to hold keys of model providers, whether or not such a provider is configured. */
const knownKeyNames = [
  "OPENAI_API_KEY",
  "CODEX_API_KEY",
  "AZURE_OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "MISTRAL_API_KEY",
  "DEEPSEEK_API_KEY",
  "GROQ_API_KEY",
  "OPENROUTER_API_KEY",
  "XAI_API_KEY",
] as const

/**
 * Everything but secrets. Late versions of the original inherit secrets too, unless `ignore_default_excludes` is false.
 */
const defaultPolicy: ShellEnvironment = {
  inherit: "all",
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
}

/**
 * Matches the whole name without case, with `*` for any characters and `?` for one. Linear, except for the text after
 * the last star. Not a regular expression, because a pattern could make one take exponential time.
 */
const matches = (pattern: string, name: string): boolean => {
  const [glob, text] = [pattern.toUpperCase(), name.toUpperCase()]
  let [at, star, resume] = [0, -1, 0]
  for (let read = 0; read < text.length;) {
    if (glob[at] === "*") {
      star = at++
      resume = read
    } else if (at < glob.length && (glob[at] === "?" || glob[at] === text[read])) {
      at++
      read++
    } else if (star >= 0) {
      at = star + 1
      read = ++resume
    } else return false
  }
  while (glob[at] === "*") at++
  return at === glob.length
}

const matchesAny = (patterns: ReadonlyArray<string>, name: string): boolean =>
  patterns.some((pattern) => matches(pattern, name))

const isInherited = (inherit: ShellEnvironment["inherit"], name: string): boolean =>
  inherit === "all" || (inherit === "core" && matchesAny(coreNames, name))

/** Default excludes of this environment: secrets, and all settings of `git` when one of them is a secret. */
const defaultExcludesOf = (parent: Readonly<Record<string, string | undefined>>) => {
  const excludesGitSettings = hasSecretGitSetting(parent)
  return (name: string, value: string): boolean =>
    isGitSetting(name) ? excludesGitSettings : isSecretVariable(name, value)
}

/**
 * Applies in this order: `inherit`, the default excludes, `exclude`, `set`, `includeOnly`, the variables that the
 * server adds. Finally removes the keys of model providers. `policy` undefined: everything but secrets is inherited.
 */
export const environmentOf = (
  parent: Readonly<Record<string, string | undefined>>,
  policy: ShellEnvironment | undefined,
  options: EnvironmentOptions,
): Record<string, string> => {
  const { exclude, ignoreDefaultExcludes, includeOnly, inherit, set } = policy ?? defaultPolicy
  const isExcluded = ignoreDefaultExcludes ? () => false : defaultExcludesOf(parent)
  const variables = new Map<string, string>()
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || !isInherited(inherit, name)) continue
    if (!isExcluded(name, value) && !matchesAny(exclude, name)) variables.set(name, value)
  }
  for (const [name, value] of Object.entries(set)) variables.set(name, value)
  if (includeOnly.length > 0) {
    for (const name of variables.keys()) {
      if (!matchesAny(includeOnly, name)) variables.delete(name)
    }
  }
  if (options.networkDisabled) variables.set("CODEX_SANDBOX_NETWORK_DISABLED", "1")
  if (options.conversationId !== undefined) {
    variables.set("CODEX_THREAD_ID", options.conversationId)
  }
  const keys = new Set(
    [...knownKeyNames, ...options.providerKeyNames].map((key) => key.toUpperCase()),
  )
  return Object.fromEntries([...variables].filter(([name]) => !keys.has(name.toUpperCase())))
}
