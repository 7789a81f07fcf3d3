import { conformanceCases, type ConformanceSubject } from "@colloquy/store/Conformance"
import { it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as PostgresStore from "../src/node/PostgresStore.ts"
import { leaseCases } from "./support/LeaseCases.ts"
import { logCases } from "./support/LogCases.ts"
import { describeWithPostgres } from "./support/PostgresTests.ts"

describeWithPostgres("the store in PostgreSQL", ({ newDatabase }) => {
  const subject: ConformanceSubject = {
    make: Effect.sync(() => {
      const database = Redacted.make(newDatabase())
      return Layer.orDie(PostgresStore.layer({ database }))
    }),
    isDurable: true,
  }
  for (const { name, run } of conformanceCases(subject)) it.effect(name, () => run)
  for (const { name, run } of [...leaseCases, ...logCases]) {
    it.effect(name, () =>
      run({
        client: PgClient.layer({ url: Redacted.make(newDatabase()), maxMessageSize: 2 ** 28 }),
      }),
    )
  }
})
