import { suite } from "../../../server/test/behaviours/All.ts"
import { memoryWorld } from "../../../server/test/behaviours/MemoryWorld.ts"
import { describe, it } from "@effect/vitest"
import { httpJoin, sseJoin } from "../support/McpHttpJoin.ts"

for (const { behaviours, revision } of suite) {
  describe(`${revision} over Streamable HTTP`, () => {
    for (const { name, run } of behaviours) {
      it.effect(name, () => run(memoryWorld(revision, httpJoin)))
    }
  })
}

for (const { behaviours, revision } of suite.filter((one) => one.revision === "2024-11-05")) {
  describe(`${revision} over HTTP with SSE`, () => {
    for (const { name, run } of behaviours) {
      it.effect(name, () => run(memoryWorld(revision, sseJoin)))
    }
  })
}
