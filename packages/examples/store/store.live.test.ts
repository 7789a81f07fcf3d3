import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ConformanceSubject, conformanceCases } from "@colloquy/store/Conformance"
import { afterAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as SqliteStore from "./SqliteStore.ts"

const folder = mkdtempSync(join(tmpdir(), "store-example-"))
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10 }))

let files = 0
const subject: ConformanceSubject = {
  make: Effect.sync(() => Layer.orDie(SqliteStore.layer(join(folder, `${++files}.sqlite`)))),
  isDurable: true,
}

describe("the store in SQLite", () => {
  for (const { name, run } of conformanceCases(subject)) it.effect(name, () => run)
})
