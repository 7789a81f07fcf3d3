import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import { afterAll, beforeAll, describe, it } from "@effect/vitest"

/** A server that starts before the tests of a block, and is removed after them. */
export interface Server {
  readonly postgres: PostgresServer
  /** Address of a new empty database. */
  readonly newDatabase: () => string
}

/** A block of tests that need PostgreSQL. They are skipped, with a line, where there is none. */
export const describeWithPostgres = (
  name: string,
  tests: (server: Server) => void,
  settings: ReadonlyArray<string> = [],
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
      started = new PostgresServer(["fsync=off", ...settings])
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
