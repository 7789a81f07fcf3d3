/**
 * Port: the directories that this node has. A workspace is a volume that the deployment names: a conversation runs on any
 * node that has its working directory.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The working directories of conversations on this node. */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** True if the node has this directory. */
    readonly exists: (cwd: string) => Effect.Effect<boolean>
  }
>()("@colloquy/cluster/Workspaces") {
  /** Every directory exists: for conversations without tools of the machine, and for tests. */
  static readonly layerAll = Layer.succeed(this, { exists: () => Effect.succeed(true) })
}
