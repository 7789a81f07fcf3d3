/**
 * Hunks of a unified diff between two texts. Pure and bounded: jsdiff takes quadratic time, so the changed lines it
 * may find are limited, by a count: the result depends on the texts alone, not on the machine. Beyond the limit the caller uses another way (`GitDiff`); `replaced` always returns.
 */
import { structuredPatch } from "diff/lib/patch/create.js"

/** Most lines removed and added that jsdiff looks for: about 100 ms; for 20,000 it would take 12 s. */
const maxEdits = 800

const noNewline = "\\ No newline at end of file\n"

/** Format: `3,7`; `3` for a single line; `3,0` for no lines after line 3. */
const range = (first: number, count: number): string =>
  count === 1 ? `${first}` : `${count === 0 ? first - 1 : first},${count}`

const header = (oldStart: number, oldCount: number, newStart: number, newCount: number): string =>
  `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@\n`

/**
 * The hunks with `context` lines around each, without file headers. Empty for equal texts; undefined when more
 * than 800 lines are removed and added.
 */
export const hunks = (before: string, after: string, context: number): string | undefined => {
  if (before === after) return ""
  if (before === "" || after === "") return replaced(before, after)
  const patch = structuredPatch("", "", before, after, undefined, undefined, {
    context,
    maxEditLength: maxEdits,
  })
  return patch?.hunks
    .map((hunk) =>
      [
        header(hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines),
        ...hunk.lines.map((line) => `${line}\n`),
      ].join(""),
    )
    .join("")
}

const side = (text: string, sign: string): { readonly count: number; readonly lines: string } => {
  if (text === "") return { count: 0, lines: "" }
  const isEnded = text.endsWith("\n")
  const lines = (isEnded ? text.slice(0, -1) : text).split("\n")
  const body = lines.map((line) => `${sign}${line}\n`).join("")
  return { count: lines.length, lines: isEnded ? body : `${body}${noNewline}` }
}

/** One hunk that removes all lines of the one text and adds all lines of the other. */
export const replaced = (before: string, after: string): string => {
  const gone = side(before, "-")
  const come = side(after, "+")
  return `${header(1, gone.count, 1, come.count)}${gone.lines}${come.lines}`
}
