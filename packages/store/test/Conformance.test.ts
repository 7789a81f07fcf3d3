import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { conformanceCases, type ConformanceSubject } from "../src/Conformance.ts"
import { Machine } from "./support/Machine.ts"

const subjects: Readonly<Record<string, ConformanceSubject>> = {
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
    for (const { name: behaviour, run } of conformanceCases(subject))
      it.effect(behaviour, () => run)
  })
}
