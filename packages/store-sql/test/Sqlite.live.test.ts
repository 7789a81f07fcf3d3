import { conformanceCases, type ConformanceSubject } from "@colloquy/store/Conformance"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as SqliteStore from "../src/node/SqliteStore.ts"
import { folderForTests } from "./support/Folder.ts"

const folder = folderForTests()
let files = 0

const subjects: Readonly<Record<string, ConformanceSubject>> = {
  "the store in SQLite in memory": {
    make: Effect.sync(() => Layer.orDie(SqliteStore.layer({ file: ":memory:" }))),
    isDurable: false,
  },
  "the store in a SQLite file": {
    make: Effect.sync(() =>
      Layer.orDie(SqliteStore.layer({ file: join(folder, `${++files}.sqlite`) })),
    ),
    isDurable: true,
  },
}

for (const [name, subject] of Object.entries(subjects)) {
  describe(name, () => {
    for (const { name: behaviour, run } of conformanceCases(subject)) {
      it.effect(behaviour, () => run)
    }
  })
}
