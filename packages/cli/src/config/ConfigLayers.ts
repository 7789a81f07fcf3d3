/**
 * The configuration as clients of app-server v2 read and edit it: the layers `config.toml` and command line, each value with
 * its layer, secrets redacted; and edits of the file, all or none. Implements `ConfigPort`.
 */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import {
  ConfigFailed,
  type ConfigEdit,
  type ConfigEdits,
  type ConfigOrigin,
  ConfigPort,
  type ConfigView,
  type ConfigWritten,
} from "@colloquy/server/thread/host/ports/ConfigPort"
import { parseJson } from "@colloquy/protocol/Json"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { createHash } from "node:crypto"
import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import * as CandidateCheck from "./CandidateCheck.ts"
import type { ConfigFile } from "./ConfigFile.ts"
import * as ConfigWriter from "./ConfigWriter.ts"
import type { LiveSettings } from "./LiveSettings.ts"
import { merged } from "./MergedTables.ts"
import { isSecretKey, redacted, withoutSecrets } from "./Redaction.ts"

const unavailable = ({ message }: { readonly message: string }) =>
  new ConfigFailed({ reason: "unavailable", message: message.trim() })

const invalid = (message: string) => new ConfigFailed({ reason: "invalid", message })

const versionOf = (text: string): string =>
  `sha256:${createHash("sha256").update(text).digest("hex")}`

/** A copy for clients: tables as plain objects, without secrets. */
const shown = (value: unknown, path: ReadonlyArray<string> = []): unknown => {
  if (!ConfigTree.isTable(value)) {
    if (isSecretKey(path)) return redacted
    return value instanceof Date ? value.toISOString() : withoutSecrets(value)
  }
  return Object.fromEntries(
    Object.keys(value).map((name) => [name, shown(value[name], [...path, name])]),
  )
}

/** The dotted keys of all values that are no tables. */
const leavesOf = (value: ConfigTree.ConfigTree, path: ReadonlyArray<string> = []): Array<string> =>
  Object.entries(value).flatMap(([name, inner]) =>
    ConfigTree.isTable(inner) && !ConfigTree.isEmpty(inner)
      ? leavesOf(inner, [...path, name])
      : [[...path, name].join(".")],
  )

interface Layers {
  readonly file: ConfigOrigin & { readonly tree: ConfigTree.ConfigTree }
  /** Absent: the command line sets no key. */
  readonly flags?: ConfigOrigin & { readonly tree: ConfigTree.ConfigTree }
}

const layersOf = (
  { path, text, tree }: ConfigFile,
  overrides: ReadonlyArray<ConfigTree.Override>,
): Layers => {
  const file = { name: { type: "user", file: path, profile: null }, version: versionOf(text), tree }
  if (overrides.length === 0) return { file }
  const flags = ConfigTree.applyOverrides(ConfigTree.empty, overrides)
  const version = versionOf(JSON.stringify(flags))
  return { file, flags: { name: { type: "sessionFlags" }, version, tree: flags } }
}

const originOf = ({ name, version }: ConfigOrigin): ConfigOrigin => ({ name, version })

const viewOf = (file: ConfigFile, overrides: ReadonlyArray<ConfigTree.Override>): ConfigView => {
  const layers = layersOf(file, overrides)
  const all = [...(layers.flags === undefined ? [] : [layers.flags]), layers.file]
  const origins: Record<string, ConfigOrigin> = {}
  for (const layer of all.toReversed()) {
    for (const key of leavesOf(layer.tree)) origins[key] = originOf(layer)
  }
  const effective = ConfigTree.applyOverrides(file.tree, overrides)
  return {
    config: shown(effective) as ConfigView["config"],
    origins,
    layers: all.map((layer) => ({ ...originOf(layer), config: shown(layer.tree) })),
  }
}

const unquoted = (name: string): Result.Result<string, ConfigFailed> =>
  name.startsWith('"')
    ? Result.mapBoth(parseJson(name), {
        onSuccess: String,
        onFailure: () => invalid("keyPath: a quoted name has an escape that is not valid"),
      })
    : Result.succeed(name)

/** A path as its names; a name may be quoted, so that it can have dots. */
const namesOf = (keyPath: string): Result.Result<ReadonlyArray<string>, ConfigFailed> => {
  if (keyPath === "") return Result.fail(invalid("keyPath must not be empty"))
  const names = keyPath.match(/"(?:[^"\\]|\\.)*"|[^."]+/g) ?? []
  if (names.join(".") !== keyPath) {
    return Result.fail(
      invalid(
        `keyPath: expected names with dots between them, got ${JSON.stringify(keyPath.slice(0, 80))}`,
      ),
    )
  }
  return Result.all(names.map(unquoted))
}

const valueAt = (tree: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, name) =>
      ConfigTree.isTable(node) && Object.hasOwn(node, name) ? node[name] : undefined,
    tree,
  )

/** TOML has no null. */
const hasNull = (value: unknown): boolean =>
  value === null ||
  (typeof value === "object" && Object.values(value).some((member) => hasNull(member)))

const editOf = (
  { keyPath, mergeStrategy, value }: ConfigEdit,
  tree: ConfigTree.ConfigTree,
): Result.Result<ConfigWriter.Edit, ConfigFailed> =>
  Result.flatMap(namesOf(keyPath), (path) => {
    if (value === null) return Result.succeed({ path, value: undefined })
    if (hasNull(value)) {
      return Result.fail(invalid(`value: expected no null inside of it\nin \`${keyPath}\``))
    }
    const whole = mergeStrategy === "upsert" ? merged(valueAt(tree, path), value) : value
    return Result.succeed({ path, value: whole })
  })

/** The text after all edits, one after the other, so that a later one sees the earlier ones; and its tree. */
const textAfter = (
  file: ConfigFile,
  edits: ReadonlyArray<ConfigEdit>,
): Result.Result<Pick<ConfigFile, "text" | "tree">, ConfigFailed> => {
  let { text, tree } = file
  for (const one of edits) {
    const edit = editOf(one, tree)
    if (Result.isFailure(edit)) return Result.fail(edit.failure)
    const next = ConfigWriter.edited(text, [edit.success])
    if (Result.isFailure(next)) return Result.fail(invalid(next.failure.message))
    text = next.success
    const parsed = ConfigTree.parseToml(text)
    if (Result.isFailure(parsed)) return Result.fail(invalid(parsed.failure))
    tree = parsed.success
  }
  return Result.succeed({ text, tree })
}

const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    // Nothing is there yet.
    return resolve(path)
  }
}

/** What of the command line has more weight than a key that was written. */
const overriddenBy = (
  { flags }: Layers,
  edits: ReadonlyArray<ConfigEdit>,
): ConfigWritten["overridden"] => {
  if (flags === undefined) return undefined
  for (const { keyPath } of edits) {
    const found = ConfigTree.get(flags.tree, keyPath)
    if (found !== undefined) {
      return {
        message: `the command line sets ${keyPath}`,
        overridingLayer: originOf(flags),
        effectiveValue: shown(found, keyPath.split(".")),
      }
    }
  }
  return undefined
}

interface Source {
  readonly stateDirectory: string
  /** The current file. */
  readonly file: Effect.Effect<ConfigFile, ConfigFailed>
  readonly given: CandidateCheck.CheckSource
}

/** Fails when the edits are for another file than `before`, or for another version of it. */
const checkTarget = (
  { expectedVersion, filePath }: ConfigEdits,
  before: ConfigFile,
): Effect.Effect<void, ConfigFailed> => {
  if (filePath !== undefined && realOf(filePath) !== realOf(before.path)) {
    const message = "Only writes to the user config are allowed"
    return Effect.fail(new ConfigFailed({ reason: "readonly", message }))
  }
  if (expectedVersion !== undefined && expectedVersion !== versionOf(before.text)) {
    const message = "Configuration was modified since last read. Fetch latest version and retry."
    return Effect.fail(new ConfigFailed({ reason: "conflict", message }))
  }
  return Effect.void
}

const write = Effect.fnUntraced(function* (
  { file, given, stateDirectory }: Source,
  edits: ConfigEdits,
): Effect.fn.Return<ConfigWritten, ConfigFailed> {
  const before = yield* file
  yield* checkTarget(edits, before)
  const { text, tree } = yield* Effect.fromResult(textAfter(before, edits.edits))
  yield* Effect.mapError(CandidateCheck.check(given, before.tree, tree), ({ message }) =>
    invalid(`Invalid configuration: ${message}`),
  )
  yield* Effect.mapError(ConfigWriter.replaceText(stateDirectory, before, text), unavailable)
  const overridden = overriddenBy(layersOf(before, given.overrides), edits.edits)
  return {
    version: versionOf(text),
    filePath: before.path,
    ...(overridden === undefined ? {} : { overridden }),
  }
})

/**
 * @param live the current file
 * @param given the keys that the command line sets, and what counts besides
 */
export const layer = (
  stateDirectory: string,
  live: Pick<LiveSettings, "file">,
  given: CandidateCheck.CheckSource,
): Layer.Layer<never> =>
  Layer.effect(
    ConfigPort,
    Effect.map(Semaphore.make(1), (oneWriter) => {
      const file = Effect.mapError(live.file, unavailable)
      return {
        read: Effect.map(file, (now) => viewOf(now, given.overrides)),
        write: (edits: ConfigEdits) =>
          oneWriter.withPermit(write({ stateDirectory, file, given }, edits)),
      }
    }),
  )
