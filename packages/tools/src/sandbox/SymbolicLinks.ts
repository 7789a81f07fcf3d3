/** Follows symbolic links one by one, so that a caller can check each of them. Changes nothing. Part of L15. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type { CommandNotStarted } from "../process/Command.ts"
import { realPath } from "./NodeFiles.ts"
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

/** Information about the path itself, links not followed; none when nothing is there. */
export const typeAt = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* noneIfMissing(path)(fs.lstat(path))
})

/** The path itself when no part of it is a link, with one query. This is the usual case. */
export const pathWithoutLinks = Effect.fnUntraced(function* (start: string) {
  const path = yield* Path.Path
  const plain = path.resolve(start)
  return (yield* realPath(plain)) === plain ? Option.some(plain) : Option.none<string>()
})

/**
 * The path without symbolic links. `onLink` is called with each link before it is followed. None when nothing is there.
 */
export const followLinks = Effect.fnUntraced(function* <E>(
  start: string,
  onLink: (link: string) => Effect.Effect<unknown, E>,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const plain = yield* pathWithoutLinks(start)
  if (Option.isSome(plain)) return plain
  let links = 0
  let done = "/"
  let rest = path
    .resolve(start)
    .split("/")
    .filter((part) => part !== "")
  while (rest.length > 0) {
    const [part = "", ...after] = rest
    const at = path.join(done, part)
    const info = yield* typeAt(at)
    if (Option.isNone(info)) return Option.none<string>()
    if (info.value.type === "SymbolicLink") {
      if (++links > maxLinks) return yield* sandboxRefused(`${start} leads through too many links`)
      yield* onLink(at)
      const target = yield* fs.readLink(at).pipe(Effect.mapError(unreadable(at)))
      rest = [
        ...path
          .resolve(done, target)
          .split("/")
          .filter((word) => word !== ""),
        ...after,
      ]
      done = "/"
    } else {
      done = at
      rest = after
    }
  }
  return Option.some(done)
})
