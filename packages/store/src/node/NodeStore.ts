/**
 * The conversation store of this machine: rollouts in the state directory, where the original has its own, and beside them
 * a folder of ours with the index and the leases. Nothing is read or made before it is first used.
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Layer from "effect/Layer"
import { isAbsolute, join, resolve } from "node:path"
import * as RolloutStore from "../RolloutStore.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as NodeIndex from "./NodeIndex.ts"
import * as NodeLeases from "./NodeLeases.ts"

export interface NodeStoreOptions extends Omit<RolloutStore.RolloutStoreOptions, "offsetMsAt"> {
  /** Default: as the process has its local time. */
  readonly offsetMsAt?: RolloutStore.RolloutStoreOptions["offsetMsAt"]
}

// Not by a zone of Effect's: for one, all that the platform knows of languages is loaded while the first turn waits.
const localOffsetMs = (atMs: number): number => -60_000 * new Date(atMs).getTimezoneOffset()

/** Below the state directory; the original has nothing of that name. */
const folder = "colloquy-store"

export const layer = (options: NodeStoreOptions): Layer.Layer<ConversationStore> => {
  const home = isAbsolute(options.home) ? options.home : resolve(options.home)
  const own = join(home, folder)
  return RolloutStore.layer({ offsetMsAt: localOffsetMs, ...options, home }).pipe(
    Layer.provide([
      NodeFiles.layer,
      NodeIndex.layer(join(own, "index.sqlite")),
      NodeLeases.layer(own),
    ]),
  )
}
