/**
 * Follows symbolic links one by one, so that a caller can check each of them. Looks at paths through `CurrentView`, and
 * through the thread pool where that cannot answer. Changes nothing and remembers nothing. Part of L15.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type { CommandNotStarted } from "../process/Command.ts"
import { type FoundEntry, lookAt, pathCalls } from "./NodeFiles.ts"
import { asynchronous, type PathView } from "./PathFacts.ts"
import { sandboxRefused } from "./SandboxRefusal.ts"

/** Limit of the kernel for the number of links on one path. */
const maxLinks = 40

/** Error for a path that the sandbox cannot examine. */
export const unreadable =
  (path: string) =>
  (error: PlatformError.PlatformError): CommandNotStarted =>
    sandboxRefused(`the sandbox can't look at ${path}: ${error.message}`)

const noneIfMissing =
  (path: string) =>
  <A, R>(
    effect: Effect.Effect<A, PlatformError.PlatformError, R>,
  ): Effect.Effect<Option.Option<A>, CommandNotStarted, R> =>
    effect.pipe(
      Effect.asSome,
      Effect.catch((error) =>
        error.reason._tag === "NotFound"
          ? Effect.succeedNone
          : Effect.fail(unreadable(path)(error)),
      ),
    )

/** The view of the task that is going on. Where none is provided, every look goes through the thread pool. */
export const CurrentView = Context.Reference<PathView>("@colloquy/tools/sandbox/CurrentView", {
  defaultValue: () => asynchronous(pathCalls),
})

/** What is known of an entry. */
export interface EntryInfo {
  readonly type: "Directory" | "File" | "Other" | "SymbolicLink"
  /** In bytes. */
  readonly size: number
}

const typeNames = {
  Directory: "Directory",
  File: "File",
  Link: "SymbolicLink",
  Special: "Other",
} as const

const infoByFiles = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* noneIfMissing(path)(
    Effect.map(fs.lstat(path), ({ size, type }): EntryInfo => {
      const isKnown = type === "Directory" || type === "File" || type === "SymbolicLink"
      return { type: isKnown ? type : "Other", size: Number(size) }
    }),
  )
})

/** Information about the path itself, links not followed; none when nothing is there. */
export const typeAt = (
  path: string,
): Effect.Effect<Option.Option<EntryInfo>, CommandNotStarted, FileSystem.FileSystem> =>
  Effect.flatMap(CurrentView, (view) => {
    const found = view.lookNow(path)
    if (found === undefined) return view.waiting(infoByFiles(path))
    return "inode" in found
      ? Effect.succeedSome({ type: typeNames[found.type], size: Number(found.size) })
      : Effect.succeedNone
  })

/** The entry itself, a link not followed; undefined when nothing is there or it cannot be examined. */
export const entryAt = (path: string): Effect.Effect<FoundEntry | undefined> =>
  Effect.flatMap(CurrentView, (view) => {
    const found = view.lookNow(path)
    if (found === undefined) return view.waiting(lookAt(path))
    if (!("inode" in found)) return Effect.undefined
    const { device, inode, links, type } = found
    const kind = type === "File" || type === "Link" ? type : "Other"
    return Effect.succeed({ path, type: kind, identity: { device, inode, links } })
  })

/** The path itself when no part of it is a link, with one query. This is the usual case. */
export const pathWithoutLinks = Effect.fnUntraced(function* (start: string) {
  const path = yield* Path.Path
  const view = yield* CurrentView
  const plain = path.resolve(start)
  return (yield* view.realPath(plain)) === plain ? Option.some(plain) : Option.none<string>()
})

/** The names of an absolute path, from the root. */
const namesOf = (path: string): Array<string> => path.split("/").filter((name) => name !== "")

/**
 * The path without symbolic links. `onLink` is called with each link before it is followed. None when nothing is there.
 */
export const followLinks = Effect.fnUntraced(function* <E>(
  start: string,
  onLink: (link: string) => Effect.Effect<unknown, E>,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const view = yield* CurrentView
  // No part of its path is a link, and nothing is there.
  if (view.lookNow(path.resolve(start))?.type === "Missing") return Option.none<string>()
  const plain = yield* pathWithoutLinks(start)
  if (Option.isSome(plain)) return plain
  let links = 0
  let done = "/"
  let rest = namesOf(path.resolve(start))
  while (rest.length > 0) {
    const [part = "", ...after] = rest
    const at = path.join(done, part)
    const info = yield* typeAt(at)
    if (Option.isNone(info)) return Option.none<string>()
    if (info.value.type === "SymbolicLink") {
      if (++links > maxLinks) return yield* sandboxRefused(`${start} leads through too many links`)
      yield* onLink(at)
      const target = yield* view.waiting(fs.readLink(at)).pipe(Effect.mapError(unreadable(at)))
      rest = [...namesOf(path.resolve(done, target)), ...after]
      done = "/"
    } else {
      done = at
      rest = after
    }
  }
  return Option.some(done)
})
