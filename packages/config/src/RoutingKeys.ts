/**
 * Recognizes misspelt names of the keys that decide to which host prompts and API keys are sent.
 * Pure.
 *
 * Other unknown keys are ignored with a warning. A misspelling of one of these would leave the
 * default host in effect, so it is an error.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import { type ConfigFault, faultAt } from "./ConfigFault.ts"
import { Config } from "./ConfigSchema.ts"
import { type ConfigTree, get, isTable } from "./ConfigTree.ts"

const routing: ReadonlySet<string> = new Set([
  "model_provider",
  "model_providers",
  "profile",
  "profiles",
  "chatgpt_base_url",
])

const knownKeys = Object.keys(Config.fields)

/** Keys that versions of the original know and that resemble one of those above. */
const keysOfOriginal: ReadonlySet<string> = new Set(["oss_provider"])

/**
 * Keys of later versions of the original that name a host. If one were ignored, prompts would go to
 * the default host.
 */
const unsupported: Readonly<Record<string, string>> = {
  openai_base_url:
    "is not supported; set the environment variable `OPENAI_BASE_URL`, or `base_url` of a provider in `model_providers`",
}

/**
 * The key that decides about the host and of which `key`, at the top level or in a profile, is a
 * misspelling; undefined for any other key.
 */
export const meantRoutingKey = (key: string): string | undefined => {
  if (knownKeys.includes(key) || keysOfOriginal.has(key)) return undefined
  const near = nearest(key, knownKeys)
  return near !== undefined && routing.has(near) ? near : undefined
}

const faultIn = (table: ConfigTree, path: ReadonlyArray<string>): ConfigFault | undefined => {
  for (const key of Object.keys(table)) {
    const problem = Object.hasOwn(unsupported, key) ? unsupported[key] : undefined
    if (problem !== undefined) return faultAt([...path, key], `\`${key}\` ${problem}`)
    const meant = meantRoutingKey(key)
    if (meant === undefined) continue
    return faultAt([...path, key], `unknown field \`${key}\`, did you mean \`${meant}\`?`)
  }
  return undefined
}

/** The fault of the first misspelt key of the tree or of one of its profiles. */
export const misspeltRoutingKey = (tree: ConfigTree): ConfigFault | undefined => {
  const fault = faultIn(tree, [])
  const profiles = get(tree, "profiles")
  if (fault !== undefined || !isTable(profiles)) return fault
  for (const [name, profile] of Object.entries(profiles)) {
    const found = isTable(profile) ? faultIn(profile, ["profiles", name]) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
