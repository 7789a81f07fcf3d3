/**
 * What a patch would do to the files, worked out before anything is asked or written. It reads through the reader it is
 * given and changes nothing; a later hunk sees what the earlier ones made of the files. The first hunk that does not
 * fit ends the plan: those before it stay, as the original applies them in order without a way back (§8.3).
 *
 * One rule of the original is not followed: a move to the file's own path is a plain update and deletes nothing.
 */
import type { FileChange } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Hunk } from "./PatchText.ts"
import * as UnifiedDiff from "./UnifiedDiff.ts"
import * as UpdateText from "./UpdateText.ts"

/** A file as it was found. */
export type FileState =
  | { readonly _tag: "Text"; readonly text: string; readonly isExecutable: boolean }
  /** Not UTF-8. `reason` in the words of the original. */
  | { readonly _tag: "Binary"; readonly bytes: Uint8Array; readonly reason: string }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Directory" }
  /** It is there, or not even that can be told. `reason` in the words of the system. */
  | { readonly _tag: "Unreadable"; readonly reason: string }

/** Reads one file by absolute path. Never fails: what is wrong is part of the answer. */
export type FileReader = (path: string) => Effect.Effect<FileState>

/** One step, by absolute paths. `before` is what has to be there still when it is done. */
export type Operation =
  | {
      readonly _tag: "Write"
      readonly kind: "Add" | "Update"
      readonly path: string
      readonly before: FileState
      readonly content: string
    }
  | { readonly _tag: "Delete"; readonly path: string; readonly before: FileState }
  | {
      readonly _tag: "Move"
      readonly path: string
      readonly before: FileState
      readonly to: string
      readonly toBefore: FileState
      readonly content: string
    }

export interface Plan {
  readonly operations: ReadonlyArray<Operation>
  /** As written in the patch, for each operation: what the summary shows. */
  readonly labels: ReadonlyArray<string>
  /** By absolute path, for events and approval (§4.4). */
  readonly changes: Readonly<Record<string, FileChange>>
  /** Every path that is written or removed, absolute, each once. */
  readonly paths: ReadonlyArray<string>
  /** Why the hunk behind the last operation cannot be applied; absent: all can. */
  readonly error: string | undefined
}

/** How paths of this machine are put together; `effect/Path` fits. */
export interface Paths {
  readonly resolve: (...segments: ReadonlyArray<string>) => string
}

const reasonOf = (state: Exclude<FileState, { readonly _tag: "Text" }>): string => {
  switch (state._tag) {
    case "Missing":
      return "No such file or directory (os error 2)"
    case "Directory":
      return "Is a directory (os error 21)"
    case "Binary":
    case "Unreadable":
      return state.reason
  }
}

const contentOf = (state: FileState): string => {
  if (state._tag === "Text") return state.text
  return state._tag === "Binary" ? new TextDecoder().decode(state.bytes) : ""
}

const written = (text: string, before: FileState): FileState => ({
  _tag: "Text",
  text,
  isExecutable: before._tag === "Text" && before.isExecutable,
})

const diff = (before: string, after: string): string =>
  UnifiedDiff.hunks(before, after, 1) ?? UnifiedDiff.replaced(before, after)

/** What becomes of one path over the whole patch. */
const netChange = (before: FileState, after: FileState): FileChange => {
  if (after._tag === "Missing") return { delete: { content: contentOf(before) } }
  if (before._tag === "Missing") return { add: { content: contentOf(after) } }
  const unified_diff = diff(contentOf(before), contentOf(after))
  return { update: { unified_diff, move_path: null } }
}

const changeOf = (operation: Operation): FileChange => {
  switch (operation._tag) {
    case "Delete":
      return { delete: { content: contentOf(operation.before) } }
    case "Move":
      return {
        update: {
          unified_diff: diff(contentOf(operation.before), operation.content),
          move_path: operation.to,
        },
      }
    case "Write":
      return operation.kind === "Add"
        ? { add: { content: operation.content } }
        : netChange(operation.before, written(operation.content, operation.before))
  }
}

/** What the files are while the patch goes on. */
interface Overlay {
  readonly now: Map<string, FileState>
  /** As each path was before its first operation. */
  readonly first: Map<string, FileState>
}

const effectsOf = (
  operation: Operation,
): ReadonlyArray<readonly [string, FileState, FileState]> => {
  const missing: FileState = { _tag: "Missing" }
  switch (operation._tag) {
    case "Delete":
      return [[operation.path, operation.before, missing]]
    case "Write":
      return [[operation.path, operation.before, written(operation.content, operation.before)]]
    case "Move":
      return [
        [operation.path, operation.before, missing],
        [operation.to, operation.toBefore, written(operation.content, operation.before)],
      ]
  }
}

/** A path that several hunks touch is shown as what becomes of it in the end. */
const summarize = (
  operations: ReadonlyArray<Operation>,
  { first, now }: Overlay,
): Record<string, FileChange> => {
  const changes = new Map<string, FileChange>()
  const touched = new Map<string, number>()
  for (const operation of operations) {
    for (const [path] of effectsOf(operation)) touched.set(path, (touched.get(path) ?? 0) + 1)
  }
  for (const operation of operations) {
    const effects = effectsOf(operation)
    if (effects.every(([path]) => touched.get(path) === 1)) {
      changes.set(operation.path, changeOf(operation))
      continue
    }
    for (const [path, state] of effects) {
      const before = first.get(path) ?? state
      const after = now.get(path) ?? state
      const isNothing = before._tag === "Missing" && after._tag === "Missing"
      if (!isNothing) changes.set(path, netChange(before, after))
    }
  }
  return Object.fromEntries(changes)
}

const isWritable = (state: FileState): boolean =>
  state._tag === "Text" || state._tag === "Binary" || state._tag === "Missing"

type Step = Result.Result<Operation, string>

const planUpdate = (
  hunk: Extract<Hunk, { readonly _tag: "Update" }>,
  path: string,
  to: string,
  read: FileReader,
): Effect.Effect<Step> =>
  Effect.gen(function* () {
    const before = yield* read(path)
    if (before._tag !== "Text") {
      return Result.fail(`Failed to read file to update ${path}: ${reasonOf(before)}`)
    }
    const content = UpdateText.apply(before.text, hunk.chunks, path)
    if (Result.isFailure(content)) return Result.fail(content.failure)
    if (to === path) {
      return Result.succeed<Operation>({
        _tag: "Write",
        kind: "Update",
        path,
        before,
        content: content.success,
      })
    }
    const toBefore = yield* read(to)
    if (!isWritable(toBefore)) return Result.fail(`Failed to write file ${to}`)
    return Result.succeed<Operation>({
      _tag: "Move",
      path,
      before,
      to,
      toBefore,
      content: content.success,
    })
  })

const planHunk = (hunk: Hunk, cwd: string, paths: Paths, read: FileReader): Effect.Effect<Step> =>
  Effect.gen(function* () {
    const target = hunk._tag === "Update" ? hunk.movePath : undefined
    if (hunk.path.includes("\0") || target?.includes("\0") === true) {
      return Result.fail(`Invalid path '${hunk.path}': it contains a NUL byte`)
    }
    const path = paths.resolve(cwd, hunk.path)
    if (hunk._tag === "Update") {
      const to = target === undefined ? path : paths.resolve(cwd, target)
      return yield* planUpdate(hunk, path, to, read)
    }
    const before = yield* read(path)
    if (hunk._tag === "Add") {
      return isWritable(before)
        ? Result.succeed<Operation>({
            _tag: "Write",
            kind: "Add",
            path,
            before,
            content: hunk.content,
          })
        : Result.fail(`Failed to write file ${path}`)
    }
    return before._tag === "Text" || before._tag === "Binary"
      ? Result.succeed<Operation>({ _tag: "Delete", path, before })
      : Result.fail(`Failed to delete file ${path}`)
  })

/** The paths of `hunks` are relative to `cwd`, move targets too. A patch without hunks has an error. */
export const plan = Effect.fn("Compute.plan")(function* (
  hunks: ReadonlyArray<Hunk>,
  cwd: string,
  paths: Paths,
  reader: FileReader,
) {
  const overlay: Overlay = { now: new Map(), first: new Map() }
  const read: FileReader = (path) => {
    const known = overlay.now.get(path)
    return known === undefined ? reader(path) : Effect.succeed(known)
  }
  const operations: Array<Operation> = []
  const labels: Array<string> = []
  let error = hunks.length === 0 ? "No files were modified." : undefined
  for (const hunk of hunks) {
    const step = yield* planHunk(hunk, cwd, paths, read)
    if (Result.isFailure(step)) {
      error = step.failure
      break
    }
    operations.push(step.success)
    labels.push((hunk._tag === "Update" ? hunk.movePath : undefined) ?? hunk.path)
    for (const [path, before, after] of effectsOf(step.success)) {
      if (!overlay.first.has(path)) overlay.first.set(path, before)
      overlay.now.set(path, after)
    }
  }
  const result: Plan = {
    operations,
    labels,
    changes: summarize(operations, overlay),
    paths: [...overlay.first.keys()],
    error,
  }
  return result
})

const letters = { Add: "A", Update: "M", Delete: "D" } as const

const letterOf = (operation: Operation): string => {
  if (operation._tag === "Delete") return letters.Delete
  return operation._tag === "Move" ? letters.Update : letters[operation.kind]
}

/** The text on standard output once everything is applied: added, modified, deleted, each in order (§8.3). */
export const summary = ({ labels, operations }: Pick<Plan, "labels" | "operations">): string => {
  const lines = ["Success. Updated the following files:"]
  for (const letter of Object.values(letters)) {
    for (const [i, operation] of operations.entries()) {
      if (letterOf(operation) === letter) lines.push(`${letter} ${labels[i] ?? ""}`)
    }
  }
  return `${lines.join("\n")}\n`
}
