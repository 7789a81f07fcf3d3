/**
 * The effective configuration: every key with its value and origin, secrets redacted. The order of precedence is that of
 * `Resolve`; a test compares the two. Pure.
 */
import { type ConfigKey, keysOf } from "@colloquy/config/ConfigKeys"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { isSecretKey, redacted, withoutSecrets } from "./Redaction.ts"

/** A key that has a value. */
export interface EffectiveKey {
  /** Its names, the outermost first. */
  readonly path: ReadonlyArray<string>
  readonly value: unknown
  /** For a person: `default`, `-c`, `config.toml:3`, `profile fast, config.toml:8`. */
  readonly origin: string
}

/** Where values come from. */
export interface Sources {
  readonly file: ConfigTree.ConfigTree
  /** Lines of the file by dotted path. */
  readonly lines: ReadonlyMap<string, number>
  /** The keys that `-c` and options such as `--model` set, in order. */
  readonly args: ReadonlyArray<ConfigTree.Override>
  /** Defaults that depend on the machine, each with its reason. */
  readonly chosen: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>
}

const valueAt = (tree: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, name) =>
      ConfigTree.isTable(node) && Object.hasOwn(node, name) ? node[name] : undefined,
    tree,
  )

/** True if one of the two paths is the other one, or is inside of it. */
const overlap = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)

/** The origin of the value at a path of the tree. A table has that of the member that was set last. */
const setBy = (sources: Sources, path: ReadonlyArray<string>): string => {
  const name = path.join(".")
  const argument = sources.args.findLast((one) => overlap(name, one.path))
  if (argument !== undefined) return argument.flag ?? "-c"
  const line =
    sources.lines.get(name) ?? [...sources.lines].find(([key]) => key.startsWith(`${name}.`))?.[1]
  return line === undefined ? "config.toml" : `config.toml:${line}`
}

/** The paths of a key with `<name>` replaced by the names of the tables that exist. */
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

/** A value with everything redacted that may be a secret. */
const shown = (path: ReadonlyArray<string>, value: unknown): unknown =>
  isSecretKey(path) ? redacted : withoutSecrets(value)

/** Every key of the schema that has a value, in the order of the schema. */
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
    // The tables of profiles are listed as written; the effect of the selected one is part of each key's value.
    const listed = key.path.startsWith("profiles.")
    return instances(tree, key).flatMap((path) => {
      const found = lookUp(path, key)
      if (found === undefined || (listed && found.origin === "default")) return []
      return [found]
    })
  })
}
