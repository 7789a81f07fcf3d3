/** Nodes behind PgBouncer, where it is installed. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../src/node/KeptSessions.ts"

const program = "/usr/sbin/pgbouncer"
const missing =
  missingPostgres() ?? (existsSync(program) ? undefined : "PgBouncer is not installed")
if (missing !== undefined) process.stdout.write(`skipped, because ${missing}: KeptSessions\n`)

type Mode = "session" | "transaction"

const configuration = (server: PostgresServer, folder: string, mode: Mode) => `[databases]
pooled = host=${server.folder} dbname=pooled user=postgres
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = ${folder}
auth_type = any
pool_mode = ${mode}
logfile = ${folder}/log
pidfile = ${folder}/pid
`

/** Starts a pooler of the database `pooled`, whose socket is in the returned folder, until the scope closes. */
const pooler = (server: PostgresServer, mode: Mode) => {
  const folder = join(server.folder, mode)
  const start = Effect.sync(() => {
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    const file = join(folder, "pgbouncer.ini")
    writeFileSync(file, configuration(server, folder, mode))
    const asUser = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : []
    const words = [...asUser, program, "-d", file]
    execFileSync("env", words, { stdio: "ignore" })
    return folder
  })
  return Effect.acquireRelease(start, () =>
    Effect.sync(() => process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGKILL")),
  )
}

const checked = (folder: string) => {
  const url = `postgres://postgres@localhost/pooled?host=${encodeURIComponent(folder)}`
  return Effect.exit(
    Effect.provide(check, Layer.fresh(PgClient.layer({ url: Redacted.make(url) }))),
  )
}

describe.skipIf(missing !== undefined)("behind PgBouncer", () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = new PostgresServer(["fsync=off"])
    server.start()
    server.database("pooled")
  }, 60_000)
  afterAll(() => server?.remove())

  for (const [mode, tag] of [
    ["session", "Success"],
    ["transaction", "Failure"],
  ] as const) {
    it.live(`a node is ${tag === "Success" ? "taken" : "refused"} in ${mode} mode`, () =>
      Effect.gen(function* () {
        const folder = yield* pooler(server ?? assert.fail("no server"), mode)
        for (let time = 0; time < 3; time++) {
          assert.strictEqual((yield* checked(folder))._tag, tag)
        }
      }).pipe(Effect.scoped),
    )
  }
})
