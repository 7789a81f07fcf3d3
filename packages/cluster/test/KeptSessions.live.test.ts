/** Nodes behind PgBouncer, where it is installed. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { once } from "node:events"
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
`

/** Starts a pooler of the database `pooled`, whose socket is in the returned folder, until the scope closes. */
const pooler = (server: PostgresServer, mode: Mode) => {
  const folder = join(server.folder, mode)
  const pid = join(folder, "pid")
  const start = Effect.sync(() => {
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    const file = join(folder, "pgbouncer.ini")
    writeFileSync(file, configuration(server, folder, mode))
    const asUser = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : []
    const script = `echo $$ > ${pid}; exec ${program} -q ${file}`
    return spawn("env", [...asUser, "sh", "-c", script], { stdio: "ignore" })
  })
  return Effect.as(
    Effect.acquireRelease(start, (child) =>
      Effect.promise(() => {
        const exit = once(child, "exit")
        process.kill(Number(readFileSync(pid, "utf8")), "SIGKILL")
        return exit
      }),
    ),
    folder,
  )
}

/** How the check ends, once the pooler takes connections. */
const checked = (folder: string) => {
  const url = `postgres://postgres@localhost/pooled?host=${encodeURIComponent(folder)}`
  const layer = Layer.fresh(PgClient.layer({ url: Redacted.make(url) }))
  return Effect.provide(check, layer).pipe(
    Effect.retry({
      while: ({ _tag }) => _tag === "SqlError",
      schedule: Schedule.spaced("100 millis"),
      times: 100,
    }),
    Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "taken" }),
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
    ["session", "taken"],
    ["transaction", "SessionNotKept"],
  ] as const) {
    it.live(`a node is ${tag === "taken" ? tag : "refused"} in ${mode} mode`, () =>
      Effect.gen(function* () {
        const folder = yield* pooler(server ?? assert.fail("no server"), mode)
        for (let time = 0; time < 3; time++) {
          assert.strictEqual(yield* checked(folder), tag)
        }
      }).pipe(Effect.scoped),
    )
  }
})
