import { suite } from "../../../server/test/behaviours/All.ts"
import { memoryWorld } from "../../../server/test/behaviours/MemoryWorld.ts"
import { describe, it } from "@effect/vitest"
import { httpJoin } from "../support/McpHttpJoin.ts"

for (const { behaviours, revision } of suite) {
  describe(`${revision} over Streamable HTTP`, () => {
    for (const { name, run } of behaviours) {
      it.effect(name, () => run(memoryWorld(revision, httpJoin)))
    }
  })
}
