/**
 * What the patches of one turn made of the files: each file as it was before the first of them, and as the last left it.
 * Pure. Knows what patches did, and not what commands did besides (§8.5).
 */
import { effectsOf, type FileState, type Operation, written } from "./Operation.ts"

export interface TurnFile {
  /** Where the file was before the turn, and how. */
  readonly from: string
  readonly before: FileState
  /** Where it is now, and how. */
  readonly to: string
  readonly now: FileState
}

/** By the path where each is now; a deleted one by where it was. */
export type TurnFiles = ReadonlyMap<string, TurnFile>

export const empty: TurnFiles = new Map()

const missing: FileState = { _tag: "Missing" }

const known = (files: TurnFiles, path: string, before: FileState): TurnFile =>
  files.get(path) ?? { from: path, before, to: path, now: before }

/** The file that was at `file.from` is gone; what has come to that place meanwhile stays. */
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
  // A file that was there before the turn is changed, and the other deleted: no file is two.
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

/** With the operations that were done, in order. */
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

/** Those that are not what they were, by path. */
export const changed = (files: TurnFiles): ReadonlyArray<TurnFile> =>
  [...files.values()]
    .filter((file) => file.from !== file.to || !isSameContent(file.before, file.now))
    .toSorted((a, b) => (a.to < b.to ? -1 : Number(a.to > b.to)))
