import { afterAll, beforeAll, describe, it } from "@effect/vitest"
import { missingPostgres, Postgres } from "./Postgres.ts"

/** A server that starts before the tests of a block, and is removed after them. */
export interface Server {
  readonly postgres: Postgres
  /** Address of a new empty database. */
  readonly newDatabase: () => string
}

/** A block of tests that need PostgreSQL. They are skipped, with a line, where there is none. */
export const describeWithPostgres = (
  name: string,
  tests: (server: Server) => void,
  settings: ReadonlyArray<string> = [],
): void => {
  if (missingPostgres !== undefined) {
    process.stdout.write(`skipped, because ${missingPostgres}: ${name}\n`)
    describe.skip(name, () => {
      it("needs PostgreSQL", () => {})
    })
    return
  }
  describe(name, () => {
    let databases = 0
    let started: Postgres | undefined
    const postgres = () => {
      if (started === undefined) throw new Error("expected a running server")
      return started
    }
    beforeAll(() => {
      started = new Postgres(settings)
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
