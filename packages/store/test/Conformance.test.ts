import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cases, type Subject } from "../src/Conformance.ts"
import { Machine } from "./support/Store.ts"

const subjects: Readonly<Record<string, Subject>> = {
  "the store in memory": {
    make: Effect.succeed(MemoryStore.layer),
    isDurable: false,
  },
  "rollouts over files in memory": {
    make: Effect.sync(() => new Machine().layer),
    isDurable: true,
  },
}

for (const [name, subject] of Object.entries(subjects)) {
  describe(name, () => {
    for (const { name: behaviour, run } of cases(subject)) it.effect(behaviour, () => run)
  })
}
