import { conformanceCases, type ConformanceSubject } from "@colloquy/store/Conformance"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { join } from "node:path"
import * as SqliteClient from "../src/node/SqliteClient.ts"
import * as SqliteStore from "../src/node/SqliteStore.ts"
import { folderForTests } from "./support/Folder.ts"
import { leaseCases } from "./support/LeaseCases.ts"
import { countCases } from "./support/CountCases.ts"
import { logCases } from "./support/LogCases.ts"
import { placeCases } from "./support/PlaceCases.ts"

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

describe("the tables in SQLite", () => {
  it.effect("a fiber that writes without a pause lets the others write as well", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let written = 0
      const write = Effect.andThen(
        sql.withTransaction(sql`SELECT 1`),
        Effect.sync(() => void written++),
      )
      const busy = yield* Effect.forkChild(Effect.repeat(write, { times: 5000 }))
      yield* Effect.yieldNow
      yield* sql`SELECT 2`
      const writtenBefore = written
      yield* Fiber.join(busy)
      assert.isBelow(writtenBefore, written)
    }).pipe(Effect.provide(SqliteClient.layer(":memory:"))),
  )

  for (const { name, run } of [...leaseCases, ...logCases, ...placeCases, ...countCases]) {
    it.effect(name, () => run({ client: SqliteClient.layer(join(folder, `${++files}.sqlite`)) }))
  }
})
