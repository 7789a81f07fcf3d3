/**
 * The files, paths and processes of Node. Used in place of the platform package's `NodeServices`, whose terminal and
 * standard streams nobody here uses and whose modules take some milliseconds of a first conversation.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Layer from "effect/Layer"

/** Provides `FileSystem`, `Path` and `ChildProcessSpawner`. Starts nothing by itself. */
export const layer = Layer.provideMerge(
  NodeChildProcessSpawner.layer,
  Layer.mergeAll(NodeFileSystem.layer, NodePath.layer),
)
