/**
 * The conversation store of this machine: rollout files in the state directory, where the original
 * program keeps its own, and beside them the folder `colloquy-store` with the index and the leases.
 * Nothing is read or created before the store is first used.
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Layer from "effect/Layer"
import { isAbsolute, join, resolve } from "node:path"
import * as RolloutStore from "../RolloutStore.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as NodeIndex from "./NodeIndex.ts"
import * as NodeLeases from "./NodeLeases.ts"

/** Options of the store. */
export interface NodeStoreOptions extends Omit<RolloutStore.RolloutStoreOptions, "offsetMsAt"> {
  /**
   * Offset of local time from UTC in milliseconds at a moment. Default: the local time of the
   * process.
   */
  readonly offsetMsAt?: RolloutStore.RolloutStoreOptions["offsetMsAt"]
  /**
   * Base address of the plain API of this process, looked up whenever a lease is taken: other
   * processes of the state directory send clients there that ask for its conversations. Default:
   * none.
   */
  readonly url?: () => string | undefined
}

// Does not use Effect's time zones, which would load all locale data of the platform during the
// first turn.
const localOffsetMs = (atMs: number): number => -60_000 * new Date(atMs).getTimezoneOffset()

/**
 * Folder below the state directory for the index and the leases; the original program uses no such
 * name.
 */
const folder = "colloquy-store"

/** Layer of the store. A relative `home` is resolved against the working directory. */
export const layer = (options: NodeStoreOptions): Layer.Layer<ConversationStore> => {
  const home = isAbsolute(options.home) ? options.home : resolve(options.home)
  const own = join(home, folder)
  return RolloutStore.layer({ offsetMsAt: localOffsetMs, ...options, home }).pipe(
    Layer.provide([
      NodeFiles.layer,
      NodeIndex.layer(join(own, "index.sqlite")),
      NodeLeases.layer(own, options.url),
    ]),
  )
}
