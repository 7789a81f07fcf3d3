/** How long listeners wait for `turn_diff` after the end of a patch, by the number of changed lines of a long file. */
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { timeOf } from "./Patch.ts"
import { callTool, type TimedEvent, withMachine } from "./Setting.ts"
import { fileOf, patchOf, updateOf } from "./Text.ts"

/** Sizes of the measurement. */
export interface TurnDiffSizes {
  readonly lines: number
  readonly changed: number
  readonly runs: number
}

/** The result. */
export interface TurnDiffFigure {
  readonly ms: ReadonlyArray<number>
  /** Characters of the diff. */
  readonly length: number
}

/** Measures one size. */
export const turnDiff = ({ changed, lines, runs }: TurnDiffSizes): Effect.Effect<TurnDiffFigure> =>
  withMachine(({ settings, workspace }) =>
    Effect.gen(function* () {
      const before = fileOf(lines)
      const input = patchOf([updateOf("long.txt", lines, changed)])
      const ms: Array<number> = []
      let length = 0
      for (let run = -1; run < runs; run++) {
        writeFileSync(join(workspace, "long.txt"), before)
        const events: Array<TimedEvent> = []
        yield* callTool(settings, "apply_patch", { input }, (one) => events.push(one))
        if (run < 0) continue
        ms.push(timeOf(events, "turn_diff") - timeOf(events, "patch_apply_end"))
        for (const { msg } of events) if (msg.type === "turn_diff") length = msg.unified_diff.length
      }
      return { ms, length }
    }),
  )
