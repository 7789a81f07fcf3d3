import { conformanceCases, type ConformanceSubject } from "@colloquy/store/Conformance"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as PostgresStore from "../src/node/PostgresStore.ts"
import { folderForTests } from "./support/Folder.ts"
import { importRollouts } from "./support/ImportExample.ts"
import { leaseCases } from "./support/LeaseCases.ts"
import { countCases } from "./support/CountCases.ts"
import { logCases } from "./support/LogCases.ts"
import { placeCases } from "./support/PlaceCases.ts"
import { describeWithPostgres } from "./support/PostgresTests.ts"
import { readAll } from "./support/ReadAll.ts"
import { firstRecords, messages, metaOf } from "./support/Records.ts"

const folder = folderForTests()

describeWithPostgres("the store in PostgreSQL", ({ newDatabase }) => {
  const subject: ConformanceSubject = {
    make: Effect.sync(() => {
      const database = Redacted.make(newDatabase())
      return Layer.orDie(PostgresStore.layer({ database }))
    }),
    isDurable: true,
  }
  for (const { name, run } of conformanceCases(subject)) it.effect(name, () => run)

  it.live("the program of the page imports a state directory", () =>
    Effect.gen(function* () {
      const meta = metaOf(1)
      const log = [...firstRecords(meta), ...messages(1, 20)]
      const files = NodeStore.layer({ home: folder })
      const create = Effect.flatMap(ConversationStore, (store) => store.create(meta, log))
      yield* create.pipe(Effect.scoped, Effect.provide(files))
      const address = newDatabase()
      assert.deepStrictEqual(yield* importRollouts(folder, address), [{ id: meta.id }])
      const database = PostgresStore.layer({ database: Redacted.make(address) })
      assert.deepStrictEqual(yield* readAll(meta.id).pipe(Effect.provide(database)), log)
    }),
  )

  for (const { name, run } of [...leaseCases, ...logCases, ...placeCases, ...countCases]) {
    it.effect(name, () =>
      run({
        client: PgClient.layer({ url: Redacted.make(newDatabase()), maxMessageSize: 2 ** 28 }),
      }),
    )
  }
})
