/**
 * Files as the tools of this process may read them: every file but the secrets. What the sandbox hides from commands is
 * hidden from these tools as well, in every mode: a path, a link, another name of the same file or a directory that is
 * replaced while it is read does not lead there. Part of L15.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isWithin } from "./BubblewrapArgv.ts"
import {
  FileNotOpened,
  hasNameIn,
  type Identity,
  lookAt,
  type OpenedFile,
  openRegular,
  realPath,
} from "./NodeFiles.ts"

/**
 * Entries of a state directory that hold credentials, or what other conversations said. People keep some of them
 * elsewhere and put a link in their place: then the file that the link leads to is secret, too.
 */
export const secretEntries = [
  "auth.json",
  ".credentials.json",
  "config.toml",
  "history.jsonl",
  "sessions",
  "archived_sessions",
  "log",
  "colloquy-store",
] as const

/** Each process has a directory there, the server among them, with its environment, files and memory. */
const systemPaths = ["/proc"]

/** True when `path` lies in `hidden`, and is not part of a workspace that a person has put there. All without links. */
const isShut = (path: string, hidden: string, workspace: string): boolean => {
  if (!isWithin(path, hidden)) return false
  const isExcepted = workspace !== hidden && isWithin(workspace, hidden)
  return !isExcepted || !isWithin(path, workspace)
}

/** The hidden paths without links, and what the links among their secret entries lead to. */
const placesOf = Effect.fnUntraced(function* (hiddenPaths: ReadonlyArray<string>) {
  const places = new Set<string>()
  for (const hidden of hiddenPaths) {
    places.add((yield* realPath(hidden)) ?? hidden)
    for (const entry of secretEntries) {
      const at = `${hidden}/${entry}`
      const target = (yield* lookAt(at))?.type === "Link" ? yield* realPath(at) : undefined
      if (target !== undefined) places.add(target)
    }
  }
  return [...places]
})

/** True for another name of a file that lies in one of the places. Most files have one name, and need no search. */
const isOtherName = Effect.fnUntraced(function* (
  file: Identity,
  places: ReadonlyArray<string>,
  workspace: string,
) {
  if (file.links <= 1n) return false
  for (const place of places) {
    if (yield* hasNameIn(place, file, (path) => isShut(path, place, workspace))) return true
  }
  return false
})

export interface HiddenFiles {
  /**
   * Opens a regular file until the scope ends; fails as `Denied` for what is hidden. `workspace` is the directory of the
   * conversation: inside a hidden directory it stays visible, as for commands.
   */
  readonly open: (
    path: string,
    workspace: string,
  ) => Effect.Effect<OpenedFile, FileNotOpened, Scope.Scope>
}

const denied = Effect.fail(new FileNotOpened({ reason: "Denied", message: "it may not be read" }))

/** The path with the links of everything that exists followed. */
const canonical = (path: string): Effect.Effect<string> =>
  Effect.flatMap(realPath(path), (real) => {
    const slash = path.lastIndexOf("/")
    if (real !== undefined || slash < 0) return Effect.succeed(real ?? path)
    return Effect.map(
      canonical(path.slice(0, slash) || "/"),
      (parent) => `${parent === "/" ? "" : parent}${path.slice(slash)}`,
    )
  })

/** `hiddenPaths` are absolute. */
export const make = (hiddenPaths: ReadonlyArray<string>): HiddenFiles => ({
  open: Effect.fnUntraced(function* (path, workspace) {
    const places = yield* placesOf(hiddenPaths)
    const room = yield* realPath(workspace)
    const isShutAt = (real: string) =>
      systemPaths.some((system) => isWithin(real, system)) ||
      places.some((place) => isShut(real, place, room ?? workspace))
    const file = yield* Effect.catch(openRegular(path), (error) =>
      // What does not exist there is hidden too, so that nothing is made there.
      Effect.flatMap(canonical(path), (real) => (isShutAt(real) ? denied : Effect.fail(error))),
    )
    const isHidden =
      isShutAt(file.real) || (yield* isOtherName(file.identity, places, room ?? workspace))
    return isHidden ? yield* denied : file
  }),
})
