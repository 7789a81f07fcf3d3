import { describe, it } from "@effect/vitest"
import { suite } from "./behaviours/All.ts"
import { memoryWorld } from "./behaviours/MemoryWorld.ts"

for (const { behaviours, revision } of suite) {
  describe(`${revision} in memory`, () => {
    for (const { name, run } of behaviours) {
      it.effect(name, () => run(memoryWorld(revision)))
    }
  })
}
