/** A large patch from the model's text to the files: computed, then written by a confined process. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { callTool, type TimedEvent, withMachine } from "./Setting.ts"
import { fileOf, patchOf, updateOf } from "./Text.ts"

/** Sizes of the measurement. */
export interface PatchSizes {
  /** Hunks in one file of ten times as many lines, or one hunk in each of as many files. */
  readonly hunks: number
  readonly files: "one" | "each"
  readonly runs: number
}

/** The result. */
export interface PatchFigure {
  /** Milliseconds to parse, compute and decide, per run. */
  readonly computeMs: ReadonlyArray<number>
  /** Milliseconds to write, per run. */
  readonly applyMs: ReadonlyArray<number>
}

const linesPerHunk = 10

/** Time of the first event of the type; its absence is a defect, because the patch failed. */
export const timeOf = (events: ReadonlyArray<TimedEvent>, type: EventMsg["type"]): number => {
  const found = events.find(({ msg }) => msg.type === type)
  if (found === undefined) throw new Error(`no ${type}`)
  return found.atMs
}

/** Measures one kind of patch. */
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
        const events: Array<TimedEvent> = []
        const call = yield* callTool(settings, "apply_patch", { input }, (one) => events.push(one))
        if (run < 0) continue
        const begunAtMs = timeOf(events, "patch_apply_begin")
        computeMs.push(begunAtMs - call.startedAtMs)
        applyMs.push(timeOf(events, "patch_apply_end") - begunAtMs)
      }
      return { computeMs, applyMs }
    }),
  )
