/** Databases in which the program under test keeps its conversations: a PostgreSQL server of the test, and SQLite files. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import { afterAll, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Returns the value of `conversation_store` for a new empty database. */
export type NewDatabase = () => string

/** SQLite files in a directory that is removed after the tests of a block. */
export const sqliteFiles = (): NewDatabase => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-sqlite-"))
  let files = 0
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10, force: true }))
  return () => `sqlite:${join(folder, `${++files}.sqlite`)}`
}

/** A block of tests that need PostgreSQL. They are skipped, with a line, where there is none. */
export const describeWithPostgres = (
  name: string,
  tests: (server: { readonly newDatabase: NewDatabase; readonly postgres: PostgresServer }) => void,
): void => {
  const missing = missingPostgres()
  if (missing !== undefined) {
    process.stdout.write(`skipped, because ${missing}: ${name}\n`)
    describe.skip(name, () => {
      it("needs PostgreSQL", () => {})
    })
    return
  }
  describe(name, () => {
    let databases = 0
    let started: PostgresServer | undefined
    const postgres = () => {
      if (started === undefined) throw new Error("expected a running server")
      return started
    }
    beforeAll(() => {
      started = new PostgresServer(["fsync=off", "max_connections=300"])
      started.start()
    }, 60_000)
    afterAll(() => started?.remove())
    tests({
      get postgres() {
        return postgres()
      },
      newDatabase: () => postgres().database(`test${++databases}`),
    })
  })
}

/** The same tests over every kind of database. */
export const describeDatabases = (
  name: string,
  tests: (newDatabase: NewDatabase) => void,
): void => {
  describe(`${name} in SQLite`, () => tests(sqliteFiles()))
  describeWithPostgres(`${name} in PostgreSQL`, ({ newDatabase }) => tests(newDatabase))
}
