/** Seeded random texts and the patches between them, for the property tests. */
import type { Chunk, Hunk } from "../../src/patch/PatchText.ts"

/** Generator of random integers below `below`; the same seed gives the same sequence. */
export const random = (seed: number): ((below: number) => number) => {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const words = ["a", "b", " a", "b ", "", "}", "\tx", "– q", "@@ a", "*** x", "+", "-", "ü"]

export const lines = (next: (below: number) => number, most: number): ReadonlyArray<string> =>
  Array.from({ length: next(most + 1) }, () => words[next(words.length)] ?? "")

const signed = (sign: string, text: string) => ({ sign, text })

/** A chunk of signed lines. */
export const chunkOf = (
  rows: ReadonlyArray<{ readonly sign: string; readonly text: string }>,
  context: string | undefined,
  isEndOfFile: boolean,
): Chunk => {
  const oldLines: Array<string> = []
  const newLines: Array<string> = []
  const origins: Array<number | undefined> = []
  for (const { sign, text } of rows) {
    if (sign !== "+") oldLines.push(text)
    if (sign !== "-") {
      newLines.push(text)
      origins.push(sign === " " ? oldLines.length - 1 : undefined)
    }
  }
  return { context, oldLines, newLines, origins, isEndOfFile }
}

/** One chunk over the whole of `before`, which keeps or removes each line and may add new lines next to it. */
export const rewrite = (
  next: (below: number) => number,
  before: ReadonlyArray<string>,
): { readonly chunk: Chunk; readonly after: ReadonlyArray<string> } => {
  const rows = before.flatMap((text) => {
    const kept = [signed(next(3) === 0 ? "-" : " ", text)]
    return next(4) === 0 ? [...kept, signed("+", words[next(words.length)] ?? "")] : kept
  })
  const chunk = chunkOf(rows, undefined, false)
  return { chunk, after: chunk.newLines }
}

const printChunk = (chunk: Chunk): ReadonlyArray<string> => {
  const rows: Array<string> = []
  let at = 0
  const removeUpTo = (end: number) => {
    for (; at < end; at++) rows.push(`-${chunk.oldLines[at] ?? ""}`)
  }
  for (const [i, line] of chunk.newLines.entries()) {
    const origin = chunk.origins[i]
    if (origin === undefined) {
      rows.push(`+${line}`)
      continue
    }
    removeUpTo(origin)
    rows.push(` ${line}`)
    at = origin + 1
  }
  removeUpTo(chunk.oldLines.length)
  return [
    chunk.context === undefined ? "@@" : `@@ ${chunk.context}`,
    ...rows,
    ...(chunk.isEndOfFile ? ["*** End of File"] : []),
  ]
}

const printHunk = (hunk: Hunk): ReadonlyArray<string> => {
  switch (hunk._tag) {
    case "Add":
      return [
        `*** Add File: ${hunk.path}`,
        ...hunk.content
          .split("\n")
          .slice(0, -1)
          .map((line) => `+${line}`),
      ]
    case "Delete":
      return [`*** Delete File: ${hunk.path}`]
    case "Update":
      return [
        `*** Update File: ${hunk.path}`,
        ...(hunk.movePath === undefined ? [] : [`*** Move to: ${hunk.movePath}`]),
        ...hunk.chunks.flatMap(printChunk),
      ]
  }
}

export const print = (hunks: ReadonlyArray<Hunk>): string =>
  ["*** Begin Patch", ...hunks.flatMap(printHunk), "*** End Patch"].join("\n")
