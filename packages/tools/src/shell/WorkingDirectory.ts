/**
 * The directory in which a command runs, resolved once before anything is decided about the command. Changes nothing.
 *
 * Keeps its part of L7 and L15: a path is only a name, and commands in the sandbox can make it lead elsewhere. The
 * question, the grant and the run therefore use the path without symbolic links, and an unconfined run requires that
 * the same directory is still there.
 *
 * Known limit: a process that replaces the directory in the moment between the last check and the start is not noticed.
 */
import * as Effect from "effect/Effect"
import { type Identity, isSameFile, lookAt, pathCalls, realPath } from "../sandbox/NodeFiles.ts"
import * as PathFacts from "../sandbox/PathFacts.ts"

/** A directory as it was resolved. */
export interface WorkingDirectory {
  /** Absolute path as the call and the settings name it. */
  readonly named: string
  /** Path without symbolic links; `named` where nothing is there. */
  readonly path: string
  /** Undefined where nothing is there. */
  readonly identity: Identity | undefined
}

const slowly = (named: string): Effect.Effect<WorkingDirectory> =>
  Effect.gen(function* () {
    const path = yield* realPath(named)
    if (path === undefined) return { named, path: named, identity: undefined }
    return { named, path, identity: (yield* lookAt(path))?.identity }
  })

/** Returns a function that resolves a path at the moment of the call: with one look where the path has no links. */
export const make = (
  calls: PathFacts.PathCalls = pathCalls,
): ((named: string) => Effect.Effect<WorkingDirectory>) => {
  const { view } = PathFacts.make(calls)
  return (named) =>
    Effect.flatMap(view, ({ lookNow }) => {
      const found = lookNow(named)
      if (found === undefined || !("inode" in found) || found.type === "Link") return slowly(named)
      const { device, inode, links } = found
      return Effect.succeed({ named, path: named, identity: { device, inode, links } })
    })
}

/** True when both are the same directory at the same path, or nothing is there in both cases. */
export const isSame = (a: WorkingDirectory, b: WorkingDirectory): boolean =>
  a.path === b.path &&
  (a.identity === undefined || b.identity === undefined
    ? a.identity === b.identity
    : isSameFile(a.identity, b.identity))
