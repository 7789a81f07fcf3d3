/**
 * Everything that loads a part of the configuration: for the start of a command, or of a conversation with any profile. The
 * one list of it, by which a candidate configuration is checked before it is written. The types of all keys are checked
 * first, so that no table depends on a loader of its own.
 */
import type { SettingsError } from "@colloquy/core/ConversationSettings"
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import { faultsOf as faultsOfTypes } from "@colloquy/config/ConfigSchema"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import type { ResolveSource } from "@colloquy/config/Resolve"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { serverOptions } from "../args/ServerOptions.ts"
import { servedCluster } from "../cluster/ServedCluster.ts"
import { servedHttp } from "../http/ServedHttp.ts"
import { errorOf, loadFrom } from "../server/Startup.ts"
import { allKeys } from "./AllKeys.ts"
import { settingsOf } from "./LiveSettings.ts"

/** The faults that keep a part from being loaded. A loader may find only the first; the others appear without it. */
type Loader = (source: ResolveSource) => Effect.Effect<ReadonlyArray<SettingsError>>

const faultOf = <A>(loaded: Result.Result<A, ConfigFault>): ReadonlyArray<SettingsError> =>
  Result.isFailure(loaded) ? [errorOf(loaded.failure)] : []

const failureOf = <A>(
  loading: Effect.Effect<A, SettingsError>,
): Effect.Effect<ReadonlyArray<SettingsError>> =>
  Effect.match(loading, { onSuccess: () => [], onFailure: (error) => [error] })

/** The fault at the key of the profile, if the profile sets it. */
const inProfile = (tree: ConfigTree.ConfigTree, profile: unknown, fault: SettingsError) => {
  const { key, message } = fault
  const profiles = tree["profiles"]
  if (key === undefined || typeof profile !== "string" || !ConfigTree.isTable(profiles))
    return fault
  const table = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined
  if (!ConfigTree.isTable(table) || !Object.hasOwn(table, key)) return fault
  const path = `profiles.${profile}.${key}`
  return errorOf({ key: path, message: message.replace(`\`${key}\``, `\`${path}\``) })
}

const start: Loader = (source) =>
  Effect.map(failureOf(loadFrom(source)), (faults) =>
    faults.map((fault) => inProfile(source.tree, source.tree["profile"], fault)),
  )

/** Each profile by itself: a client may select any of them. */
const profiles: Loader = (source) => {
  const tables = source.tree["profiles"]
  if (!ConfigTree.isTable(tables)) return Effect.succeed([])
  const faultsIn = (profile: string) => {
    // Only its own table, because every table is decoded once per profile.
    const tree = { ...source.tree, profiles: { [profile]: tables[profile] } }
    const loading = settingsOf({ ...source, tree }, { profile }, Effect.succeed)
    return Effect.map(failureOf(loading), (faults) =>
      faults.map((fault) => inProfile(tree, profile, fault)),
    )
  }
  return Effect.map(Effect.forEach(Object.keys(tables), faultsIn), (faults) => faults.flat())
}

const cluster: Loader = ({ tree }) => {
  const options = serverOptions(tree)
  return Result.isFailure(options)
    ? Effect.succeed(faultOf(options))
    : Effect.map(
        Effect.promise(() => servedCluster(tree, options.success)),
        faultOf,
      )
}

/** All loaders. */
export const loaders: ReadonlyArray<Loader> = [
  ({ tree }) => Effect.sync(() => faultsOfTypes(allKeys(), tree).map(errorOf)),
  start,
  profiles,
  ({ tree }) => Effect.sync(() => faultOf(servedHttp(tree))),
  cluster,
]
