/**
 * Looks at paths without waiting for a thread wherever the kernel answers from memory. A look of this kind takes some
 * microseconds; one through the thread pool takes twenty times as long, and they are made one after the other.
 *
 * Guard against mounts that do not respond: a synchronous look would stop the whole process, so one is made only where
 * the table of mounts says that every file system on the way is local, and only if no part of the path is a link, which
 * could lead elsewhere. The parts are examined from the root down, so that none is reached through an unexamined one.
 * Every other path is looked at asynchronously, one at a time: a mount that does not respond then takes one thread of
 * the pool and not all of them. Where there is no such table (not Linux), every look is asynchronous.
 *
 * Remembers nothing about files between two views.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { foreignMounts } from "./MountTable.ts"

/** What is at a path. `Missing`: nothing. `Unknown`: it cannot be examined. */
export type PathLook = { readonly type: "Missing" | "Unknown" } | PathStamp

/**
 * What identifies an entry and the state of its content. A change of the content changes `changedNs`; one through a
 * memory mapping does so when the system writes it to the file system.
 */
export interface PathStamp {
  readonly type: "Directory" | "File" | "Link" | "Special"
  readonly device: bigint
  readonly inode: bigint
  /** Number of names (hard links). */
  readonly links: bigint
  /** In bytes. */
  readonly size: bigint
  /** Time of the last change of the content, in nanoseconds since 1970. A program can set it. */
  readonly modifiedNs: bigint
  /** Time of the last change of content or attributes, in nanoseconds since 1970. Only the system sets it. */
  readonly changedNs: bigint
}

/** The calls of the system that a view makes. */
export interface PathCalls {
  /** The text of `/proc/self/mountinfo`; undefined on a system without it. Synchronous. */
  readonly mounts: () => string | undefined
  /** What is at the path, a link not followed. Synchronous. */
  readonly lookNow: (path: string) => PathLook
  /** The same through the thread pool. */
  readonly look: (path: string) => Effect.Effect<PathLook>
  /** The path without links through the thread pool; undefined when it cannot be determined. */
  readonly realPath: (path: string) => Effect.Effect<string | undefined>
}

/**
 * Looks at the paths of one task, such as the creation of a conversation. Remembers which directories it has examined
 * for their links, and nothing else: each look shows the path as it is then. What it remembers lasts until it makes an
 * asynchronous look, because during that one anything may be replaced.
 */
export interface PathView {
  /** False: every look is asynchronous, so that looks which do not depend on each other gain by running together. */
  readonly isImmediate: boolean
  /** What is at an absolute path, a link not followed. Undefined: only `lookAt` may answer. Never waits. */
  readonly lookNow: (path: string) => PathLook | undefined
  /** What is at an absolute path, a link not followed. */
  readonly lookAt: (path: string) => Effect.Effect<PathLook>
  /** The path without links; undefined when it cannot be determined. */
  readonly realPath: (path: string) => Effect.Effect<string | undefined>
  /** Runs a look of another kind that waits, after which directories are examined anew. */
  readonly waiting: <A, E, R>(look: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Creates views. */
export interface PathFacts {
  readonly view: Effect.Effect<PathView>
}

/** How long the table of mounts is used before it is read again: reading it costs as much as twenty looks. */
const maxTableAgeMs = 1000

/** Absolute, without empty parts, `.` and `..`. */
const isNormal = (path: string): boolean =>
  /^(?:\/[^/]+)+$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path)

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/"

const viewOf = (calls: PathCalls, foreign: ReadonlySet<string> | undefined): PathView => {
  const examined = new Set<string>()
  /**
   * `Plain`: a directory on a local file system whose path has no links. `Missing`: nothing is there, and the path to
   * the place where it ends has no links. Undefined: anything else.
   */
  const reach = (directory: string): "Missing" | "Plain" | undefined => {
    if (examined.has(directory)) return "Plain"
    if (foreign?.has(directory) !== false) return undefined
    const above = directory === "/" ? "Plain" : reach(parentOf(directory))
    if (above !== "Plain") return above
    const type = directory === "/" ? "Directory" : calls.lookNow(directory).type
    if (type !== "Directory") return type === "Missing" ? "Missing" : undefined
    examined.add(directory)
    return "Plain"
  }
  const lookNow = (path: string): PathLook | undefined => {
    if (foreign?.has(path) !== false || !isNormal(path)) return undefined
    const above = reach(parentOf(path))
    if (above !== "Plain") return above === undefined ? undefined : { type: "Missing" }
    const found = calls.lookNow(path)
    if (found.type === "Directory") examined.add(path)
    return found.type === "Unknown" ? undefined : found
  }
  /** After the wait, directories are examined anew. */
  const waiting: PathView["waiting"] = (look) =>
    Effect.ensuring(
      look,
      Effect.sync(() => examined.clear()),
    )
  return {
    isImmediate: foreign !== undefined,
    lookNow,
    waiting,
    lookAt: (path) =>
      Effect.suspend(() => {
        const found = lookNow(path)
        return found === undefined ? waiting(calls.look(path)) : Effect.succeed(found)
      }),
    realPath: (path) =>
      Effect.suspend(() => {
        const found = lookNow(path)
        if (found === undefined || found.type === "Link") return waiting(calls.realPath(path))
        return found.type === "Missing" ? Effect.undefined : Effect.succeed(path)
      }),
  }
}

/** A view that makes every look through the thread pool. */
export const asynchronous = (calls: PathCalls): PathView => viewOf(calls, undefined)

/** Creates the facts of one service. */
export const make = (calls: PathCalls): PathFacts => {
  let table: { readonly foreign: ReadonlySet<string> | undefined; readonly readAtMs: number } = {
    foreign: undefined,
    readAtMs: -Infinity,
  }
  return {
    view: Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const ageMs = nowMs - table.readAtMs
      if (ageMs < 0 || ageMs >= maxTableAgeMs) {
        const text = calls.mounts()
        table = { foreign: text === undefined ? undefined : foreignMounts(text), readAtMs: nowMs }
      }
      return viewOf(calls, table.foreign)
    }),
  }
}
