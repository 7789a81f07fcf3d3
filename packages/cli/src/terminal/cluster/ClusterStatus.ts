/** What `colloquy cluster status` prints. */
import * as PostgresReports from "@colloquy/cluster/node/PostgresReports"
import * as PostgresStore from "@colloquy/store-sql/node/PostgresStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { expectedDatabase, isPostgres } from "../../args/Addresses.ts"
import { CommandFailed } from "../CommandFailed.ts"
import { ExitCode } from "../ExitCode.ts"
import { output, print } from "../Output.ts"
import { nodeTable, summaryLine } from "./NodeTable.ts"
import { jsonText } from "../JsonText.ts"

/** A command for people waits for a database no longer than this. */
const patience = "5 seconds"

const readReports = (database: string) =>
  PostgresReports.reports.pipe(
    Effect.provide(
      Layer.fresh(
        PostgresStore.clientLayer({ database: Redacted.make(database), maxConnections: 1 }),
      ),
    ),
    Effect.mapError((error) => {
      const { message } = error._tag === "SqlError" ? PostgresStore.errorOf(error) : error
      return new CommandFailed({ message: `the database of the cluster: ${message}` })
    }),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () =>
        Effect.fail(new CommandFailed({ message: "the database of the cluster does not answer" })),
    }),
  )

/** Prints the nodes. The exit code is 1 where none lives. */
export const status = Effect.fnUntraced(function* (
  database: string | undefined,
  asJson: boolean,
): Effect.fn.Return<void, CommandFailed, ExitCode> {
  if (database === undefined) {
    return yield* new CommandFailed({
      message: "which cluster? Give its database, `postgres://…`, or set `cluster.database`",
    })
  }
  if (!isPostgres(database)) {
    return yield* new CommandFailed({
      message: `the database of a cluster is ${expectedDatabase}`,
    })
  }
  const reports = yield* readReports(database)
  if (!reports.some(({ lives }) => lives)) yield* (yield* ExitCode).set(1)
  if (asJson) return yield* print([jsonText({ nodes: reports }, 2)])
  if (reports.length === 0) return yield* print(["No node uses this database."])
  const { columns, style } = output()
  const [titles = "", ...rows] = nodeTable(reports, columns)
  yield* print([style.dim(titles), ...rows, summaryLine(reports)])
})
