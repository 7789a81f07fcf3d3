/**
 * Reads files for the tools of this process: every file but the secrets. What the sandbox hides from commands is hidden
 * from these tools as well, in every mode: no path, link, other name of the same file, or directory that is replaced
 * while it is read leads there. Part of L15.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isWithin } from "./PathContainment.ts"
import {
  FileNotOpened,
  hasNameIn,
  type Identity,
  type OpenedFile,
  openRegular,
  pathCalls,
  realPath,
} from "./NodeFiles.ts"
import { asynchronous, type PathView } from "./PathFacts.ts"

/**
 * Entries of a state directory that contain credentials or the content of other conversations. Some people keep them
 * elsewhere and put a link in their place: then the file that the link leads to is secret too.
 */
export const secretEntries = [
  "auth.json",
  ".credentials.json",
  "config.toml",
  "history.jsonl",
  "session_index.jsonl",
  "sessions",
  "archived_sessions",
  "log",
  "colloquy-store",
] as const

/** Each process has a directory there with its environment, files and memory, the server among them. */
const systemPaths = ["/proc"]

/**
 * True when `path` lies in `hidden` and not in a workspace that a person has put there. All paths are without links.
 */
const isShut = (path: string, hidden: string, workspace: string): boolean => {
  if (!isWithin(path, hidden)) return false
  const isExcepted = workspace !== hidden && isWithin(workspace, hidden)
  return !isExcepted || !isWithin(path, workspace)
}

/** The hidden paths without links, and the targets of links among their secret entries. */
const placesOf = Effect.fnUntraced(function* (hiddenPaths: ReadonlyArray<string>, view: PathView) {
  const places = new Set<string>()
  for (const hidden of hiddenPaths) {
    const real = yield* view.realPath(hidden)
    places.add(real ?? hidden)
    // Most of the directories that may contain secrets do not exist.
    const isMissing = real === undefined && (yield* view.lookAt(hidden)).type === "Missing"
    for (const entry of isMissing ? [] : secretEntries) {
      const at = `${hidden}/${entry}`
      const isLink = (yield* view.lookAt(at)).type === "Link"
      const target = isLink ? yield* view.realPath(at) : undefined
      if (target !== undefined) places.add(target)
    }
  }
  return [...places]
})

/** The place with another name of the file, if any. Most files have one name and need no search. */
const placeOfOtherName = Effect.fnUntraced(function* (
  file: Identity,
  places: ReadonlyArray<string>,
  workspace: string,
) {
  if (file.links <= 1n) return undefined
  for (const place of places) {
    if (yield* hasNameIn(place, file, (path) => isShut(path, place, workspace))) return place
  }
  return undefined
})

/** Opens files that are not hidden. */
export interface HiddenFiles {
  /**
   * Opens a regular file until the scope closes. Fails as `Denied` for a hidden one. `workspace` is the directory of
   * the conversation: inside a hidden directory it stays visible, as it does for commands.
   */
  readonly open: (
    path: string,
    workspace: string,
  ) => Effect.Effect<OpenedFile, FileNotOpened, Scope.Scope>
  /**
   * What decides, besides the file itself, whether `open` fails as `Denied`: while this text stays the same, so does the
   * decision about an unchanged file with one name and a path without links.
   */
  readonly boundary: (workspace: string, view: PathView) => Effect.Effect<string>
}

const denied = (why: string) =>
  Effect.fail(new FileNotOpened({ reason: "Denied", message: "it may not be read", why }))

/** The path with the links of all existing parts followed. */
const canonical = (path: string): Effect.Effect<string> =>
  Effect.flatMap(realPath(path), (real) => {
    const slash = path.lastIndexOf("/")
    if (real !== undefined || slash < 0) return Effect.succeed(real ?? path)
    return Effect.map(
      canonical(path.slice(0, slash) || "/"),
      (parent) => `${parent === "/" ? "" : parent}${path.slice(slash)}`,
    )
  })

/** @param hiddenPaths absolute paths */
export const make = (hiddenPaths: ReadonlyArray<string>): HiddenFiles => ({
  open: Effect.fnUntraced(function* (path, workspace) {
    const places = yield* placesOf(hiddenPaths, asynchronous(pathCalls))
    const room = yield* realPath(workspace)
    const shutBy = (real: string) =>
      systemPaths.find((system) => isWithin(real, system)) ??
      places.find((place) => isShut(real, place, room ?? workspace))
    const checkPlace = (real: string) => {
      const place = shutBy(real)
      return place === undefined
        ? Effect.void
        : denied(`it leads to ${real}, and ${place} is hidden from all tools`)
    }
    const file = yield* Effect.catch(openRegular(path), (error) =>
      // A missing file below a hidden path is reported as hidden, so that nothing is created there.
      Effect.flatMap(canonical(path), checkPlace).pipe(Effect.andThen(Effect.fail(error))),
    )
    yield* checkPlace(file.real)
    const other = yield* placeOfOtherName(file.identity, places, room ?? workspace)
    return other === undefined
      ? file
      : yield* denied(`it is another name of a file in ${other}, which is hidden from all tools`)
  }),
  boundary: Effect.fnUntraced(function* (workspace, view) {
    const places = yield* placesOf(hiddenPaths, view)
    return JSON.stringify([(yield* view.realPath(workspace)) ?? workspace, ...places])
  }),
})
