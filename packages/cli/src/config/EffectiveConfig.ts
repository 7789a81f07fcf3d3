/**
 * What the configuration comes to: every key with the value that counts and where it comes from, secrets hidden. The
 * order of precedence is that of `Resolve` (§7.1); a test holds the two together. Pure.
 */
import { type ConfigKey, keysOf } from "@colloquy/config/ConfigKeys"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { isSecretKey, redacted, withoutSecrets } from "./Redaction.ts"

export interface EffectiveKey {
  /** Of names, the outermost first. */
  readonly path: ReadonlyArray<string>
  readonly value: unknown
  /** For a person: `default`, `-c`, `config.toml:3`, `profile fast, config.toml:8`. */
  readonly origin: string
}

export interface Sources {
  readonly file: ConfigTree.ConfigTree
  /** Lines of the file by dotted path. */
  readonly lines: ReadonlyMap<string, number>
  /** What `-c` arguments and the options that set one key say, in order. */
  readonly args: ReadonlyArray<ConfigTree.Override>
  /** Defaults that depend on the machine, with why they are what they are. */
  readonly chosen: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>
}

const valueAt = (tree: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, name) =>
      ConfigTree.isTable(node) && Object.hasOwn(node, name) ? node[name] : undefined,
    tree,
  )

/** Where the value at a path of the tree was set. */
const setBy = (sources: Sources, path: ReadonlyArray<string>): string => {
  const name = path.join(".")
  const argument = sources.args.findLast(
    (one) => name === one.path || name.startsWith(`${one.path}.`),
  )
  if (argument !== undefined) return argument.flag ?? "-c"
  const line = sources.lines.get(name)
  return line === undefined ? "config.toml" : `config.toml:${line}`
}

/** Names in the place of `<name>`, for every table that the writer of the file named. */
const instances = (tree: unknown, key: ConfigKey): ReadonlyArray<ReadonlyArray<string>> => {
  let paths: ReadonlyArray<ReadonlyArray<string>> = [[]]
  for (const part of key.path.split(".")) {
    paths = paths.flatMap((path) => {
      if (part !== "<name>") return [[...path, part]]
      const table = valueAt(tree, path)
      return ConfigTree.isTable(table) ? Object.keys(table).map((name) => [...path, name]) : []
    })
  }
  return paths
}

/** A value with everything hidden that may be a secret. */
const shown = (path: ReadonlyArray<string>, value: unknown): unknown =>
  isSecretKey(path) ? redacted : withoutSecrets(value)

export const effectiveConfig = (
  schema: Parameters<typeof keysOf>[0],
  sources: Sources,
): ReadonlyArray<EffectiveKey> => {
  const tree = sources.args.reduce(
    (edited, { path, value }) => ConfigTree.set(edited, path, value),
    sources.file,
  )
  const profile = ConfigTree.get(tree, "profile")
  const selected = typeof profile === "string" ? ["profiles", profile] : undefined
  const flagKeys = ConfigTree.flagKeys(sources.args)

  const lookUp = (path: ReadonlyArray<string>, key: ConfigKey): EffectiveKey | undefined => {
    const inProfile =
      selected === undefined || flagKeys.has(key.path) ? undefined : [...selected, ...path]
    const ofProfile = inProfile === undefined ? undefined : valueAt(tree, inProfile)
    if (inProfile !== undefined && ofProfile !== undefined) {
      const origin = `profile ${String(profile)}, ${setBy(sources, inProfile)}`
      return { path, value: shown(path, ofProfile), origin }
    }
    const set = valueAt(tree, path)
    if (set !== undefined) return { path, value: shown(path, set), origin: setBy(sources, path) }
    const chosen = sources.chosen[key.path]
    if (chosen !== undefined) return { path, ...chosen }
    return key.default === undefined ? undefined : { path, value: key.default, origin: "default" }
  }

  return keysOf(schema).flatMap((key) => {
    // A profile is listed as it is written; what it changes is listed where it counts.
    const listed = key.path.startsWith("profiles.")
    return instances(tree, key).flatMap((path) => {
      const found = lookUp(path, key)
      if (found === undefined || (listed && found.origin === "default")) return []
      return [found]
    })
  })
}
