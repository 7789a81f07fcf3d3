/**
 * Checks a candidate text of `config.toml` before it is written: it is loaded as the commands and conversations would load
 * it. A fault that the file has already is no reason to refuse the text, so that a faulty file can be repaired key by key.
 */
import { SettingsError } from "@colloquy/core/ConversationSettings"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import type { ResolveSource } from "@colloquy/config/Resolve"
import * as Effect from "effect/Effect"
import { loaders } from "./ConfigLoaders.ts"
import { merged } from "./MergedTables.ts"

/** What counts besides the file. */
export interface CheckSource {
  /** The keys that the command line sets. */
  readonly overrides: ReadonlyArray<ConfigTree.Override>
  /** The other sources; its tree is not used. */
  readonly source: Omit<ResolveSource, "tree" | "flagKeys">
}

/** Most faults of a file that are compared. Each further one costs loading the whole file again. */
const maxFaults = 30

type Table = Record<string, unknown>

/** A copy of which tables can be changed. */
const copyOf = (table: ConfigTree.ConfigTree): Table => {
  const copy = Object.create(null) as Table
  for (const [name, value] of Object.entries(table)) {
    copy[name] = ConfigTree.isTable(value) ? copyOf(value) : value
  }
  return copy
}

/** Removes the value at a dotted key, of which a name may have dots, or else what has it inside. False: there is neither. */
const remove = (table: Table, key: string): boolean => {
  if (Object.hasOwn(table, key)) return delete table[key]
  for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", dot + 1)) {
    const name = key.slice(0, dot)
    if (!Object.hasOwn(table, name)) continue
    const inner = table[name]
    if (!ConfigTree.isTable(inner)) return delete table[name]
    if (remove(inner, key.slice(dot + 1))) return true
  }
  return false
}

/** The text of a fault, which names the key. */
const textOf = ({ key, message }: SettingsError): string => {
  const text = message.trim()
  return key === undefined || text.includes(`\`${key}\``) ? text : `${text}\nin \`${key}\``
}

/** The texts of the first faults: what each one names is removed from the tree to find the next. */
const faultsOf = Effect.fnUntraced(function* (source: ResolveSource) {
  const found = new Set<string>()
  const tree = copyOf(source.tree)
  for (const loader of loaders) {
    let isChanged = true
    while (isChanged && found.size < maxFaults) {
      // Large files take long, and other requests are waiting.
      yield* Effect.yieldNow
      const faults = (yield* loader({ ...source, tree })).slice(0, maxFaults)
      for (const fault of faults) found.add(textOf(fault))
      // A fault whose key is not there remains: it is not of the file.
      isChanged = faults.filter(({ key }) => key !== undefined && remove(tree, key)).length > 0
    }
  }
  return found
})

/**
 * The trees that a file results in: with the command line over it, as in this process; and with it over the command line,
 * because the next process may have another one.
 */
const sourcesOf = (
  { overrides, source }: CheckSource,
  file: ConfigTree.ConfigTree,
): ReadonlyArray<ResolveSource> => {
  if (overrides.length === 0) return [{ ...source, tree: file }]
  const flags = ConfigTree.applyOverrides(ConfigTree.empty, overrides)
  return [
    {
      ...source,
      tree: ConfigTree.applyOverrides(file, overrides),
      flagKeys: ConfigTree.flagKeys(overrides),
    },
    { ...source, tree: merged(flags, file) as ConfigTree.ConfigTree },
  ]
}

/** Fails with the text of the first fault of `after` that `before` does not have. Both are trees of the file. */
export const check = Effect.fnUntraced(function* (
  source: CheckSource,
  before: ConfigTree.ConfigTree,
  after: ConfigTree.ConfigTree,
): Effect.fn.Return<void, SettingsError> {
  const befores = sourcesOf(source, before)
  for (const [i, candidate] of sourcesOf(source, after).entries()) {
    const faults = yield* faultsOf(candidate)
    const old = befores[i]
    if (faults.size === 0 || old === undefined) continue
    const known = yield* faultsOf(old)
    // Of a file with so many faults not all are known; it can only be repaired.
    if (known.size >= maxFaults) continue
    const added = [...faults].find((fault) => !known.has(fault))
    if (added !== undefined) return yield* new SettingsError({ message: added })
  }
})
