/** The changes of a planned patch as clients see them, in questions and events: one change per path. Pure. */
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import * as Effect from "effect/Effect"
import { contentOf, effectsOf, type FileState, type Operation, written } from "./Operation.ts"
import * as UnifiedDiff from "./UnifiedDiff.ts"

/** States of the files while the operations of a patch are planned. */
export interface Overlay {
  /** State of each touched path after the operations so far. */
  readonly now: Map<string, FileState>
  /** State of each touched path before its first operation. */
  readonly first: Map<string, FileState>
}

const diff = (before: string, after: string): string =>
  UnifiedDiff.hunks(before, after, 1) ?? UnifiedDiff.replaced(before, after)

/** The change of one path over the whole patch. */
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

const changesOf = (
  operation: Operation,
  touched: ReadonlyMap<string, number>,
  { first, now }: Overlay,
): ReadonlyArray<readonly [string, FileChange]> => {
  const effects = effectsOf(operation)
  if (effects.every(([path]) => touched.get(path) === 1)) {
    return [[operation.path, changeOf(operation)]]
  }
  return effects.flatMap(([path, state]) => {
    const before = first.get(path) ?? state
    const after = now.get(path) ?? state
    const isNothing = before._tag === "Missing" && after._tag === "Missing"
    return isNothing ? [] : [[path, netChange(before, after)] as const]
  })
}

/** The changes by path. A path that several hunks touch gets the net change of all of them. */
export const summarize = Effect.fn("PatchChanges.summarize")(function* (
  operations: ReadonlyArray<Operation>,
  overlay: Overlay,
) {
  const touched = new Map<string, number>()
  for (const operation of operations) {
    for (const [path] of effectsOf(operation)) touched.set(path, (touched.get(path) ?? 0) + 1)
  }
  const changes = new Map<string, FileChange>()
  for (const operation of operations) {
    // A diff may take a tenth of a second; other fibers run between them.
    yield* Effect.yieldNow
    for (const [path, change] of changesOf(operation, touched, overlay)) changes.set(path, change)
  }
  return Object.fromEntries(changes)
})
