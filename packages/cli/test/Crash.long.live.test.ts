/**
 * Kills servers at random moments and checks what is left of their conversations: L4, L5, L7, L8, L10 and L11 with real
 * files and databases, real processes and a real `kill -9`.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as CrashRun from "./crash/CrashRun.ts"
import { postgresLogs, sqliteLogs } from "./crash/DatabaseLogs.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeWithPostgres, sqliteFiles } from "./support/Databases.ts"

beforeAll(buildIfMissing)

/** Number of state directories or databases; each has separate servers. */
const runs = 8
/** Number of crash runs at the same time: enough to keep two processors busy, because other tests run at the same time. */
const atOnce = 3

/** `CRASH_SEED` repeats a single run. */
const given = process.env["CRASH_SEED"]
const seeds = given === undefined ? Array.from({ length: runs }, (_, n) => n + 1) : [Number(given)]

const killServers = (kills: number, placeOf: () => CrashRun.Place | undefined) =>
  it.live(
    `L10 L11 L5 L4 loses nothing that it has delivered in ${kills} kills, and the next server continues`,
    () =>
      Effect.gen(function* () {
        const ran = yield* Effect.forEach(
          seeds,
          (seed) => Effect.result(CrashRun.run(seed, kills / runs, placeOf())),
          { concurrency: atOnce },
        )
        const [tallies, broken] = Arr.separate(ran)
        assert.deepStrictEqual(
          broken.map(({ message }) => message),
          [],
        )
        const sum = (of: (tally: CrashRun.Tally) => number) =>
          tallies.reduce((all, tally) => all + of(tally), 0)
        assert.strictEqual(
          sum((tally) => tally.kills),
          (kills / runs) * seeds.length,
        )
        // Each total must be above zero: a driver that sends nothing would find no violation either.
        for (const of of ["early", "duringCommand", "inputs", "events", "commands"] as const)
          assert.isAbove(
            sum((tally) => tally[of]),
            0,
            of,
          )
      }),
    600_000,
  )

describe.skipIf(process.platform !== "linux")("a server that is killed at any moment", () => {
  killServers(200, () => undefined)
})

/** Fewer kills than with files: no byte of a record can be missing in a database, only records and transactions. */
const databaseKills = 40

describe.skipIf(process.platform !== "linux")(
  "a server that is killed at any moment, with its conversations in SQLite",
  () => {
    const newDatabase = sqliteFiles()
    killServers(databaseKills, () => {
      const store = newDatabase()
      return { store, logs: sqliteLogs(store.slice("sqlite:".length)) }
    })
  },
)

describeWithPostgres(
  "a server that is killed at any moment, with its conversations in PostgreSQL",
  (server) => {
    killServers(databaseKills, () => {
      const store = server.newDatabase()
      return { store, logs: postgresLogs(server.postgres, store) }
    })
  },
)
