/** A large patch from the model's text to the files: worked out, then written by the program that is confined. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { callTool, type Told, withMachine } from "./Setting.ts"
import { fileOf, patchOf, updateOf } from "./Text.ts"

export interface PatchSizes {
  /** In one file of ten times as many lines, or one in each of as many files. */
  readonly hunks: number
  readonly files: "one" | "each"
  readonly runs: number
}

export interface PatchFigure {
  /** Parsed, worked out and judged. */
  readonly computeMs: ReadonlyArray<number>
  /** Written. */
  readonly applyMs: ReadonlyArray<number>
}

const linesPerHunk = 10

/** When the first event of the type was told; its absence is a defect: the patch failed. */
export const timeOf = (told: ReadonlyArray<Told>, type: EventMsg["type"]): number => {
  const found = told.find(({ msg }) => msg.type === type)
  if (found === undefined) throw new Error(`no ${type}`)
  return found.atMs
}

export const patch = ({ files, hunks, runs }: PatchSizes): Effect.Effect<PatchFigure> =>
  withMachine(({ settings, workspace }) =>
    Effect.gen(function* () {
      const [count, each] = files === "one" ? [1, hunks] : [hunks, 1]
      const names = Array.from({ length: count }, (_, index) => `file-${index}.txt`)
      const before = fileOf(each * linesPerHunk)
      const input = patchOf(names.map((name) => updateOf(name, each * linesPerHunk, each)))
      const computeMs: Array<number> = []
      const applyMs: Array<number> = []
      for (let run = -1; run < runs; run++) {
        for (const name of names) writeFileSync(join(workspace, name), before)
        const told: Array<Told> = []
        const call = yield* callTool(settings, "apply_patch", { input }, (one) => told.push(one))
        if (run < 0) continue
        const begunAtMs = timeOf(told, "patch_apply_begin")
        computeMs.push(begunAtMs - call.startedAtMs)
        applyMs.push(timeOf(told, "patch_apply_end") - begunAtMs)
      }
      return { computeMs, applyMs }
    }),
  )
