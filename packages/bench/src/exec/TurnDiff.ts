/** How long listeners wait for `turn_diff` behind the end of a patch, by how much of a long file it changes. */
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { timeOf } from "./Patch.ts"
import { callTool, type Told, withMachine } from "./Setting.ts"
import { fileOf, patchOf, updateOf } from "./Text.ts"

export interface TurnDiffSizes {
  readonly lines: number
  readonly changed: number
  readonly runs: number
}

export interface TurnDiffFigure {
  readonly ms: ReadonlyArray<number>
  /** Characters of the difference. */
  readonly length: number
}

export const turnDiff = ({ changed, lines, runs }: TurnDiffSizes): Effect.Effect<TurnDiffFigure> =>
  withMachine(({ settings, workspace }) =>
    Effect.gen(function* () {
      const before = fileOf(lines)
      const input = patchOf([updateOf("long.txt", lines, changed)])
      const ms: Array<number> = []
      let length = 0
      for (let run = -1; run < runs; run++) {
        writeFileSync(join(workspace, "long.txt"), before)
        const told: Array<Told> = []
        yield* callTool(settings, "apply_patch", { input }, (one) => told.push(one))
        if (run < 0) continue
        ms.push(timeOf(told, "turn_diff") - timeOf(told, "patch_apply_end"))
        for (const { msg } of told) if (msg.type === "turn_diff") length = msg.unified_diff.length
      }
      return { ms, length }
    }),
  )
