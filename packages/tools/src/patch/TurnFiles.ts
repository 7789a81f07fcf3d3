/**
 * The files that the patches of one turn changed: each as it was before the first patch, and as the last one left it.
 * Pure. Contains the changes of patches, and not those of commands.
 */
import { effectsOf, type FileState, type Operation, written } from "./Operation.ts"

/** A file before and after. */
export interface TurnFile {
  /** Path and state before the turn. */
  readonly from: string
  readonly before: FileState
  /** Path and state now. */
  readonly to: string
  readonly now: FileState
}

/** Files by their current path; a deleted file by its path before the turn. */
export type TurnFiles = ReadonlyMap<string, TurnFile>

/** The files of a turn without patches. */
export const empty = (): TurnFiles => new Map()

const missing: FileState = { _tag: "Missing" }

const known = (files: TurnFiles, path: string, before: FileState): TurnFile =>
  files.get(path) ?? { from: path, before, to: path, now: before }

/** Removes the file that was at `file.from`; another file that is at that path meanwhile stays. */
const withdraw = (files: Map<string, TurnFile>, file: TurnFile): void => {
  files.delete(file.to)
  const there = files.get(file.from)
  const now = there === undefined ? missing : there.now
  files.set(file.from, { from: file.from, before: file.before, to: file.from, now })
}

const move = (
  files: Map<string, TurnFile>,
  operation: Extract<Operation, { readonly _tag: "Move" }>,
): void => {
  const source = known(files, operation.path, operation.before)
  const target = known(files, operation.to, operation.toBefore)
  const now = written(operation.content, operation.before)
  // When the target existed before the turn, it is a change of that file and a deletion of the other one.
  if (target.before._tag === "Missing" && source.before._tag !== "Missing") {
    files.delete(operation.path)
    files.set(operation.to, { from: source.from, before: source.before, to: operation.to, now })
    return
  }
  if (target.from !== operation.to) withdraw(files, target)
  withdraw(files, source)
  const own = known(files, operation.to, target.from === operation.to ? target.before : missing)
  files.set(operation.to, { ...own, now })
}

/** The files after the performed operations, in order. */
export const record = (files: TurnFiles, operations: ReadonlyArray<Operation>): TurnFiles => {
  const next = new Map(files)
  for (const operation of operations) {
    if (operation._tag === "Move") {
      move(next, operation)
      continue
    }
    for (const [path, before, after] of effectsOf(operation)) {
      const file = known(next, path, before)
      if (after._tag === "Missing") withdraw(next, file)
      else next.set(path, { ...file, now: after })
    }
  }
  return next
}

const isSameContent = (a: FileState, b: FileState): boolean =>
  a._tag === "Text" && b._tag === "Text"
    ? a.text === b.text
    : a._tag === b._tag && a._tag !== "Binary"

/** The files that differ from their state before the turn, by path. */
export const changed = (files: TurnFiles): ReadonlyArray<TurnFile> =>
  [...files.values()]
    .filter((file) => file.from !== file.to || !isSameContent(file.before, file.now))
    .toSorted((a, b) => (a.to < b.to ? -1 : Number(a.to > b.to)))
