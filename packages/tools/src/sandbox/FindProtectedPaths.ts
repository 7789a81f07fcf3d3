/**
 * Finds what the sandbox has to protect: `.git` below every writable root in each of its forms (directory, file of a
 * worktree, symbolic link, missing), the state directory and secret files. Changes nothing. Part of L15: a command
 * whose paths cannot be protected is refused.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { CommandNotStarted } from "../process/Command.ts"
import type { ProtectedPath } from "./ProtectedPath.ts"
import { isWithin } from "./PathContainment.ts"
import { secretEntries } from "./HiddenFiles.ts"
import {
  CurrentView,
  entryAt,
  followLinks,
  pathWithoutLinks,
  typeAt,
  unreadable,
} from "./SymbolicLinks.ts"
import { type FoundEntry, isSameFile } from "./NodeFiles.ts"
import { isPlaceholder } from "./Placeholders.ts"
import { sandboxRefused } from "./SandboxRefusal.ts"

/** A `.git` file and `commondir` contain one path; a larger file is neither. */
const maxLinkFileBytes = 16_384
/** Each entry is a mount; a directory with more entries is refused. */
const maxFrozenEntries = 1000

/**
 * Queries of the file system that do not depend on each other run together where each waits longer than it works. A
 * fiber for each of the others would cost more than the query.
 */
const together = <A, B, E, R>(
  all: ReadonlyArray<A>,
  look: (one: A) => Effect.Effect<B, E, R>,
): Effect.Effect<Array<B>, E, R> =>
  Effect.flatMap(CurrentView, ({ isImmediate }) =>
    Effect.forEach(all, look, { concurrency: isImmediate ? 1 : 8 }),
  )

/**
 * Follows the links of a path. Fails at a link that a command could replace; links within `guarded` cannot be replaced.
 */
const steady = (start: string, roots: ReadonlyArray<string>, guarded: ReadonlyArray<string> = []) =>
  followLinks(start, (link) =>
    roots.some((root) => isWithin(link, root)) && !guarded.some((place) => isWithin(link, place))
      ? Effect.fail(
          sandboxRefused(
            `${start} leads through the link ${link}, which a command could lead elsewhere`,
          ),
        )
      : Effect.void,
  )

/**
 * The existing writable roots without links, each once. Commands of this or other conversations can write to the
 * `movable` places, so a link there must not make a directory writable that is not writable anyway: such a root is
 * refused.
 */
export const resolveRoots = Effect.fn("FindProtectedPaths.resolveRoots")(function* (
  roots: ReadonlyArray<string>,
  movable: ReadonlyArray<string>,
) {
  const plain: Array<string> = []
  const linked: Array<{ readonly root: string; readonly real: string; readonly link: string }> = []
  const followed = yield* together(
    roots,
    Effect.fnUntraced(function* (root) {
      const links: Array<string> = []
      const real = yield* followLinks(root, (link) => Effect.sync(() => links.push(link)))
      return { root, links, real }
    }),
  )
  for (const { links, real, root } of followed) {
    const link = links.find((at) => [...movable, ...plain].some((place) => isWithin(at, place)))
    if (Option.isNone(real)) continue
    if (link === undefined) plain.push(real.value)
    else linked.push({ root, real: real.value, link })
  }
  for (const { link, real, root } of linked) {
    if (!plain.some((place) => isWithin(real, place))) {
      return yield* sandboxRefused(
        `the writable root ${root} leads to ${real} through the link ${link}, ` +
          "which a command may have made; name the directory itself",
      )
    }
  }
  return [...new Set([...plain, ...linked.map(({ real }) => real)])]
})

/** The path that a small text file contains after `prefix`, resolved against `directory`. */
const pathIn = Effect.fnUntraced(function* (file: string, prefix: string, directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const info = yield* typeAt(file)
  if (Option.isNone(info) || info.value.type !== "File") return Option.none<string>()
  if (info.value.size > maxLinkFileBytes) return Option.none<string>()
  const view = yield* CurrentView
  const text = yield* view.waiting(fs.readFileString(file)).pipe(Effect.mapError(unreadable(file)))
  const line = text.split("\n", 1)[0] ?? ""
  return line.startsWith(prefix) && line.length > prefix.length
    ? Option.some(path.resolve(directory, line.slice(prefix.length).trim()))
    : Option.none<string>()
})

const readOnly = (path: string): ProtectedPath => ({ path, kind: "readOnly" })

/**
 * Protects the directory of a repository: itself, what its hooks and settings lead to, and a directory that it shares.
 */
const repositoryGuards = Effect.fnUntraced(function* (
  directory: string,
  roots: ReadonlyArray<string>,
) {
  const common = yield* pathIn(`${directory}/commondir`, "", directory)
  const found: Array<ProtectedPath> = [readOnly(directory)]
  const owners = [directory, ...Option.toArray(common)]
  const places = owners.flatMap((owner) => [owner, `${owner}/hooks`, `${owner}/config`])
  const plain = yield* together(places, pathWithoutLinks)
  for (const [index, place] of places.entries()) {
    const guarded = found.map((protectedPath) => protectedPath.path)
    const known = plain[index] ?? Option.none<string>()
    // For a link it matters what is protected so far.
    const real = Option.isSome(known) ? known : yield* steady(place, roots, guarded)
    if (Option.isSome(real) && !guarded.some((at) => isWithin(real.value, at))) {
      found.push(readOnly(real.value))
    }
  }
  return found
})

/** Protects what a `.git` file (of a worktree or a submodule) leads to. */
const gitFileGuards = Effect.fnUntraced(function* (
  file: string,
  directory: string,
  roots: ReadonlyArray<string>,
) {
  const target = yield* pathIn(file, "gitdir:", directory)
  const real = Option.isSome(target) ? yield* steady(target.value, roots) : Option.none<string>()
  if (Option.isNone(real)) return [readOnly(file)]
  return [readOnly(file), ...(yield* repositoryGuards(real.value, roots))]
})

/** A link cannot be mounted over: its directory is frozen instead, and its target is protected. */
const linkGuards = Effect.fnUntraced(function* (
  link: string,
  root: string,
  roots: ReadonlyArray<string>,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const view = yield* CurrentView
  const target = yield* view.waiting(fs.readLink(link)).pipe(Effect.mapError(unreadable(link)))
  const real = yield* steady(path.resolve(root, target), roots)
  if (Option.isNone(real)) return yield* sandboxRefused(`the link ${link} leads to nothing`)
  const names = yield* view.waiting(fs.readDirectory(root)).pipe(Effect.mapError(unreadable(root)))
  if (names.length > maxFrozenEntries) {
    return yield* sandboxRefused(`${link} is a link in a directory of ${names.length} entries`)
  }
  const entries: Array<string> = []
  for (const name of names) {
    const info = yield* typeAt(`${root}/${name}`)
    if (Option.isSome(info) && info.value.type !== "SymbolicLink") entries.push(`${root}/${name}`)
  }
  const info = yield* typeAt(real.value)
  const behind =
    Option.isSome(info) && info.value.type === "Directory"
      ? yield* repositoryGuards(real.value, roots)
      : yield* gitFileGuards(real.value, root, roots)
  const frozen: ProtectedPath = { path: root, kind: "frozen", entries }
  return [frozen, ...behind]
})

/** True for a directory that other commands hold in place of a missing one. A repository has a `HEAD`. */
const isOnlyPlaceholder = Effect.fnUntraced(function* (git: string) {
  if (Option.isSome(yield* typeAt(`${git}/HEAD`))) return false
  const view = yield* CurrentView
  return yield* view.waiting(isPlaceholder(git)).pipe(Effect.mapError(unreadable(git)))
})

const gitGuards = Effect.fnUntraced(function* (root: string, roots: ReadonlyArray<string>) {
  const git = root === "/" ? "/.git" : `${root}/.git`
  const [rootInfo = Option.none(), info = Option.none()] = yield* together([root, git], typeAt)
  if (Option.isNone(rootInfo) || rootInfo.value.type !== "Directory") return []
  if (Option.isNone(info)) return [{ path: git, kind: "empty" } satisfies ProtectedPath]
  switch (info.value.type) {
    case "Directory":
      if (yield* isOnlyPlaceholder(git)) {
        return [{ path: git, kind: "empty" } satisfies ProtectedPath]
      }
      return yield* repositoryGuards(git, roots)
    case "SymbolicLink":
      return yield* linkGuards(git, root, roots)
    case "File":
      return yield* gitFileGuards(git, root, roots)
    default:
      return [readOnly(git)]
  }
})

/**
 * Protects a hidden path that does not exist but that a command could create: the server would later take its content
 * for settings. Where its parent directories are missing too, the outermost missing one is protected.
 */
const missingGuards = Effect.fnUntraced(function* (
  missing: string,
  roots: ReadonlyArray<string>,
): Effect.fn.Return<
  ReadonlyArray<ProtectedPath>,
  CommandNotStarted,
  FileSystem.FileSystem | Path.Path
> {
  const path = yield* Path.Path
  const parent = yield* steady(path.dirname(missing), roots)
  if (Option.isNone(parent)) return yield* missingGuards(path.dirname(missing), roots)
  const at = path.join(parent.value, path.basename(missing))
  return roots.some((root) => isWithin(at, root)) ? [{ path: at, kind: "empty" }] : []
})

const hides = (found: ReadonlyArray<ProtectedPath>, path: string): boolean =>
  found.some((protectedPath) => isWithin(path, protectedPath.path))

const hide = Effect.fnUntraced(function* (path: string) {
  const info = yield* typeAt(path)
  const isDirectory = Option.exists(info, ({ type }) => type === "Directory")
  return { path, kind: isDirectory ? "hiddenDirectory" : "hiddenFile" } satisfies ProtectedPath
})

/** The secret entries of a hidden directory, or a hidden file itself. */
const secretsIn = Effect.fnUntraced(function* (protectedPath: ProtectedPath) {
  const paths =
    protectedPath.kind === "hiddenDirectory"
      ? secretEntries.map((entry) => `${protectedPath.path}/${entry}`)
      : [protectedPath.path]
  const found = yield* together(paths, entryAt)
  return found.filter((entry) => entry !== undefined)
})

/**
 * A file that has another name outside of the hidden paths can be read by that name, and only a search of the whole
 * disk would find it. Commands cannot create such a name, but a person can, or a command that ran without a sandbox.
 */
const refuseOtherNames = (secrets: ReadonlyArray<FoundEntry>) => {
  const files = secrets.filter(({ type }) => type === "File")
  const open = files.find(
    ({ identity }) =>
      identity.links >
      new Set(files.filter((file) => isSameFile(file.identity, identity)).map(({ path }) => path))
        .size,
  )
  return open === undefined
    ? Effect.void
    : Effect.fail(
        sandboxRefused(
          `${open.path} has another name (a hard link), by which commands could read it: replace it by a copy`,
        ),
      )
}

const hiddenGuards = Effect.fnUntraced(function* (
  hiddenPaths: ReadonlyArray<string>,
  roots: ReadonlyArray<string>,
) {
  const found: Array<ProtectedPath> = []
  const reals = yield* together(hiddenPaths, (path) => steady(path, roots))
  // From the outside in: what lies in another hidden path is hidden with it.
  const existing = reals.flatMap(Option.toArray).toSorted((a, b) => a.length - b.length)
  for (const path of existing) if (!hides(found, path)) found.push(yield* hide(path))
  for (const [index, path] of hiddenPaths.entries()) {
    if (Option.isSome(reals[index] ?? Option.none())) continue
    const missing = yield* missingGuards(path, roots)
    found.push(...missing.filter((protectedPath) => !hides(found, protectedPath.path)))
  }
  const present = found.filter(({ kind }) => kind !== "empty")
  const secrets = (yield* together(present, secretsIn)).flat()
  const targets: Array<ProtectedPath> = []
  for (const { path, type } of secrets) {
    if (type !== "Link") continue
    const guarded = found.map((protectedPath) => protectedPath.path)
    const target = yield* steady(path, roots, guarded)
    if (Option.isSome(target) && !hides([...found, ...targets], target.value)) {
      targets.push(yield* hide(target.value))
    }
  }
  const elsewhere = (yield* together(targets, secretsIn)).flat()
  yield* refuseOtherNames([...secrets, ...elsewhere])
  return [...found, ...targets]
})

/**
 * Everything to protect for these writable roots (existing, without links). `workspace` stays readable even inside a
 * hidden directory. Fails where something cannot be protected.
 */
export const findProtectedPaths = Effect.fn("FindProtectedPaths.findProtectedPaths")(function* (
  roots: ReadonlyArray<string>,
  workspace: string,
  hiddenPaths: ReadonlyArray<string>,
) {
  const { isImmediate } = yield* CurrentView
  const [git, hidden] = yield* Effect.all(
    [together(roots, (root) => gitGuards(root, roots)), hiddenGuards(hiddenPaths, roots)],
    { concurrency: isImmediate ? 1 : 2 },
  )
  const shown = hidden.some(
    ({ path }) => path !== workspace && isWithin(workspace, path) && !roots.includes(workspace),
  )
  return [...git.flat(), ...hidden, ...(shown ? [readOnly(workspace)] : [])]
})
