/**
 * Plans what a patch would do to the files, before anything is asked or written. It reads through the given reader and
 * changes nothing; a later hunk sees the results of the earlier ones. The first hunk that does not fit ends the plan:
 * those before it stay, because the original applies hunks in order and never undoes them.
 *
 * One rule of the original is not followed: a move to the file's own path is a plain update and deletes nothing.
 */
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Overlay, summarize } from "./PatchChanges.ts"
import { contentOf, effectsOf, type FileState, type Operation, reasonOf } from "./Operation.ts"
import type { Hunk } from "./PatchText.ts"
import * as UpdateText from "./UpdateText.ts"

/** Reads one file by absolute path. Never fails: an error is part of the state. */
export type FileReader = (path: string) => Effect.Effect<FileState>

/** A planned patch. */
export interface PatchPlan {
  /** In order; hunks that rewrite the same file one after the other are one operation. */
  readonly operations: ReadonlyArray<Operation>
  /** Entries of the summary, one per hunk, with paths as written in the patch. */
  readonly labels: ReadonlyArray<Label>
  /** Changes by absolute path, for events and approvals. */
  readonly changes: Readonly<Record<string, FileChange>>
  /** Every path that is written or removed, absolute, each once. */
  readonly paths: ReadonlyArray<string>
  /** Why the hunk after the last operation cannot be applied; undefined when all can. */
  readonly error: string | undefined
}

/** One line of the summary: added, modified or deleted. */
export interface Label {
  readonly letter: "A" | "M" | "D"
  /** As written in the patch. */
  readonly path: string
}

/** How paths of this machine are resolved; `effect/Path` fits. */
export interface Paths {
  readonly resolve: (...segments: ReadonlyArray<string>) => string
}

/**
 * Limit of what one patch may read and write. A patch that names one large file thousands of times would otherwise take
 * hours; no useful patch comes near.
 */
const maxCharacters = 256 * 1024 * 1024
const tooLarge =
  "the patch reads and writes more than 256 MiB in all; put the changes of a file under one '*** Update File'"

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

const labelOf = (hunk: Hunk): Label => {
  if (hunk._tag === "Update") return { letter: "M", path: hunk.movePath ?? hunk.path }
  return { letter: hunk._tag === "Add" ? "A" : "D", path: hunk.path }
}

/** Collects operations; `last` maps a path to the index of the last operation that touched it. */
interface Collected {
  readonly operations: Array<Operation>
  readonly last: Map<string, number>
}

/** A second write of a file replaces the first: each of thousands of writes would contain the whole file. */
const append = ({ last, operations }: Collected, next: Operation): void => {
  const at = last.get(next.path) ?? -1
  const before = operations[at]
  if (before?._tag === "Write" && next._tag === "Write") {
    operations[at] = { ...before, content: next.content }
    return
  }
  for (const [path] of effectsOf(next)) last.set(path, operations.length)
  operations.push(next)
}

const sizeOf = (operation: Operation): number =>
  contentOf(operation.before).length + (operation._tag === "Delete" ? 0 : operation.content.length)

/** Records the states before and after an operation, which later hunks see. */
const overlayWith = (overlay: Overlay, operation: Operation): void => {
  for (const [path, before, after] of effectsOf(operation)) {
    if (!overlay.first.has(path)) overlay.first.set(path, before)
    overlay.now.set(path, after)
  }
}

/** Plans the hunks. Their paths are relative to `cwd`, move targets too. A patch without hunks gets an error. */
export const make = Effect.fn("PatchPlan.make")(function* (
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
  const collected: Collected = { operations: [], last: new Map() }
  const labels: Array<Label> = []
  let error = hunks.length === 0 ? "No files were modified." : undefined
  let size = 0
  for (const hunk of hunks) {
    // Other fibers run between the hunks of a large patch.
    yield* Effect.yieldNow
    const step = yield* planHunk(hunk, cwd, paths, read)
    if (Result.isSuccess(step)) size += sizeOf(step.success)
    if (Result.isFailure(step) || size > maxCharacters) {
      error = Result.isFailure(step) ? step.failure : tooLarge
      break
    }
    append(collected, step.success)
    labels.push(labelOf(hunk))
    overlayWith(overlay, step.success)
  }
  const { operations } = collected
  const changes = yield* summarize(operations, overlay)
  return {
    operations,
    labels,
    changes,
    paths: [...overlay.first.keys()],
    error,
  } satisfies PatchPlan
})

/** The standard output once everything is applied: added, modified, deleted, each in order, as in the original. */
export const summary = ({ labels }: Pick<PatchPlan, "labels">): string => {
  const lines = ["Success. Updated the following files:"]
  for (const letter of ["A", "M", "D"] as const) {
    for (const label of labels) if (label.letter === letter) lines.push(`${letter} ${label.path}`)
  }
  return `${lines.join("\n")}\n`
}
