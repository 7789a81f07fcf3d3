/**
 * Arithmetic of the permissions that a person grants beyond the sandbox policy. Paths are compared as text without `.` and
 * `..`: whoever asks resolves symbolic links first. Pure. Keeps its part of L15: nothing is granted that was not asked for.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import { resolvePath } from "../AbsolutePath.ts"

/** No permissions. */
export const none: FurtherPermissions = {}

/** Most paths of a kind that are held; the oldest are dropped first, and have to be asked for again. */
const maxPaths = 256

const isAbsolute = (path: string): boolean => path.startsWith("/") && !path.includes("\0")

const isWithin = (path: string, root: string): boolean =>
  path === root || path.startsWith(root === "/" ? root : `${root}/`)

/** The absolute paths, each once and without those below another one. */
const plain = (paths: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const all = [...new Set(paths.filter(isAbsolute).map((path) => resolvePath("/", path)))]
  return all.filter((path) => !all.some((root) => root !== path && isWithin(path, root)))
}

const made = (
  network: boolean | undefined,
  read: ReadonlyArray<string>,
  write: ReadonlyArray<string>,
): FurtherPermissions =>
  defined({
    network: network === true ? true : undefined,
    read: read.length === 0 ? undefined : read,
    write: write.length === 0 ? undefined : write,
  })

/** The same permissions in one form: no empty members, absolute paths, none of them below another one. */
export const normalized = ({ network, read, write }: FurtherPermissions): FurtherPermissions =>
  made(network, plain(read), plain(write))

/** True when nothing is permitted. */
export const isNone = (permissions: FurtherPermissions): boolean =>
  Object.keys(normalized(permissions)).length === 0

/** What both allow. */
export const intersection = (a: FurtherPermissions, b: FurtherPermissions): FurtherPermissions => {
  const common = (one: ReadonlyArray<string>, other: ReadonlyArray<string>) => [
    ...one.filter((path) => other.some((root) => isWithin(path, root))),
    ...other.filter((path) => one.some((root) => isWithin(path, root))),
  ]
  const [first, second] = [normalized(a), normalized(b)]
  // What may be written may be read.
  const readable = ({ read = [], write = [] }: FurtherPermissions) => plain([...read, ...write])
  const write = plain(common(first.write ?? [], second.write ?? []))
  const read = plain(common(readable(first), readable(second)))
  return made(
    first.network === true && second.network === true,
    read.filter((path) => !write.some((root) => isWithin(path, root))),
    write,
  )
}

/** What one of them allows. */
export const union = (a: FurtherPermissions, b: FurtherPermissions): FurtherPermissions =>
  made(
    a.network === true || b.network === true,
    plain([...(a.read ?? []), ...(b.read ?? [])]).slice(-maxPaths),
    plain([...(a.write ?? []), ...(b.write ?? [])]).slice(-maxPaths),
  )

/** True when the first permissions include the others. */
export const covers = (held: FurtherPermissions, asked: FurtherPermissions): boolean => {
  const { network, read = [], write = [] } = normalized(asked)
  const within = (paths: ReadonlyArray<string>, roots: ReadonlyArray<string> = []) =>
    paths.every((path) => roots.some((root) => isWithin(path, root)))
  return (
    (network !== true || held.network === true) &&
    within(write, held.write) &&
    within(read, [...(held.read ?? []), ...(held.write ?? [])])
  )
}
