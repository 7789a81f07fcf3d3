/**
 * The network between one process and the database, and the process's client of `effect/sql` over it. A link may be slow, cut,
 * or lose a session right before or after a commit. Statements that are under way when their fiber is interrupted arrive all
 * the same, as delayed packets do; the session that they belong to is then not used again.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { connectionLost, type Database, type Result, type Session } from "./Database.ts"
import type { Ground, Machine } from "./Machine.ts"
import type { CommitFault, CutHow } from "./NodePlan.ts"
import type { Row } from "./SqliteDatabase.ts"

/** Time after which a connection that gets no answer counts as refused; the same as that of the PostgreSQL client. */
const connectMs = 3_000

/** Time after which a session is lost whose packets do not arrive; about that of the PostgreSQL client. */
const keepAliveMs = 20_000

/** The statements that change the row of one holder. */
const changesLeases = /^(?:UPDATE colloquy_holders|DELETE FROM colloquy_holders WHERE token)/

/** The state of the network between one node and the database. It outlives the processes of the node. */
export class Link {
  /** How statements fail; undefined while the link is whole. */
  cut: CutHow | undefined
  /** Delay of each packet. */
  delayMs = 0
  /** Commits of the node so far. */
  private commits = 0
  private readonly faults: ReadonlyMap<number, CommitFault["how"]>
  private readonly lost = new Set<() => void>()
  /** What waits for the lock on the node's row of leases; undefined while nothing has locked it. */
  private waiting: Array<() => void> | undefined

  /** @param faults commits whose session is lost */
  constructor(faults: ReadonlyArray<CommitFault>) {
    this.faults = new Map(faults.map(({ commit, how }) => [commit, how]))
  }

  /** Cuts the link: sessions get no answer any more, and those of `refused` are lost at once. */
  sever(how: CutHow): void {
    this.cut = how
    if (how === "refused") for (const lose of this.lost) lose()
  }

  /** Calls `lose` when the sessions of the link are lost, until the returned function is called. */
  onLost(lose: () => void): () => void {
    this.lost.add(lose)
    return () => void this.lost.delete(lose)
  }

  /** From now on the statements that change when the leases of the node end wait. */
  lockLeases(): void {
    this.waiting ??= []
  }

  /** Carries out what waits. */
  unlockLeases(): void {
    const { waiting } = this
    this.waiting = undefined
    for (const go of waiting ?? []) go()
  }

  /** Calls `go` at once, unless the statement has to wait. */
  whenUnlocked(sql: string, go: () => void): void {
    if (this.waiting === undefined || !changesLeases.test(sql)) go()
    else this.waiting.push(go)
  }

  /** The planned fault of the next commit. */
  nextCommit(): CommitFault["how"] | undefined {
    return this.faults.get(this.commits++)
  }
}

/** One connection of a process. */
class Connection implements SqlConnection.Connection {
  isBroken = false
  private readonly wire: Wire
  private readonly session: Session

  constructor(wire: Wire, session: Session) {
    this.wire = wire
    this.session = session
  }

  execute(
    sql: string,
    params: ReadonlyArray<unknown>,
    transformRows: (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined,
  ): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    const rows = Effect.suspend(() =>
      this.isBroken ? Effect.fail(connectionLost("execute")) : this.ask(sql, params),
    )
    return transformRows === undefined ? rows : Effect.map(rows, transformRows)
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.execute(sql, params, undefined)
  }

  executeStream(sql: string, params: ReadonlyArray<unknown>) {
    const rows = this.execute(sql, params, undefined)
    return Stream.unwrap(Effect.map(rows, (found) => Stream.fromIterable(found)))
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(this.execute(sql, params, undefined), (rows) =>
      rows.map((row): ReadonlyArray<unknown> => Object.values(row)),
    )
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.executeValues(sql, params)
  }

  executeUnprepared(
    sql: string,
    params: ReadonlyArray<unknown>,
    transformRows: (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined,
  ) {
    return this.execute(sql, params, transformRows)
  }

  /** Ends the session; the database notices once the packet arrives, or by itself. */
  close(): void {
    this.isBroken = true
    const { database, link } = this.wire
    this.wire.after(link.delayMs, () => {
      if (link.cut !== "silent") database.end(this.session)
    })
  }

  private ask(
    sql: string,
    params: ReadonlyArray<unknown>,
  ): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    return Effect.callback<ReadonlyArray<Row>, SqlError>((resume) => {
      let isOver = false
      const answer = (result: Result) => {
        if (isOver) return
        isOver = true
        forget()
        this.wire.machine.run(() =>
          resume(result.is === "rows" ? Effect.succeed(result.rows) : Effect.fail(result.error)),
        )
      }
      const lose = () => {
        this.close()
        answer({ is: "error", error: connectionLost("execute") })
      }
      const forget = this.wire.link.onLost(lose)
      this.send(sql, params, { answer, lose })
      return Effect.sync(() => {
        if (isOver) return
        isOver = true
        forget()
        this.close()
      })
    })
  }

  private send(
    sql: string,
    params: ReadonlyArray<unknown>,
    { answer, lose }: { readonly answer: (result: Result) => void; readonly lose: () => void },
  ): void {
    const { database, link } = this.wire
    const fault = sql === "COMMIT" ? link.nextCommit() : undefined
    if (fault === "before") return this.wire.after(link.delayMs, lose)
    this.wire.after(link.delayMs, () => {
      if (link.cut === "refused") return lose()
      if (link.cut !== undefined) return this.wire.after(keepAliveMs, lose)
      const done = (result: Result) =>
        this.wire.after(link.delayMs, () => {
          if (fault === "after" || link.cut === "refused" || !this.session.isOpen) lose()
          else if (link.cut === undefined) answer(result)
          else this.wire.after(keepAliveMs, lose)
        })
      link.whenUnlocked(sql, () => database.execute(this.session, sql, params, done))
    })
  }
}

/** What the connections of one process are made of. */
interface Wire {
  readonly ground: Ground
  readonly machine: Machine
  readonly database: Database
  readonly link: Link
  /** Runs the task once the time has passed; not as one of the process. */
  readonly after: (ms: number, task: () => void) => void
}

/** Connects a process, or fails after the time that a client waits for it. */
const connect = (wire: Wire, process: string): Effect.Effect<Connection, SqlError> =>
  Effect.callback<Connection, SqlError>((resume) => {
    const { database, link, machine } = wire
    const refuse = () => machine.run(() => resume(Effect.fail(connectionLost("connect"))))
    if (link.cut === "silent") {
      wire.after(connectMs, refuse)
      return
    }
    wire.after(link.delayMs, () => {
      const session = link.cut === undefined ? database.connect(process) : undefined
      if (session === undefined) return refuse()
      machine.run(() => resume(Effect.succeed(new Connection(wire, session))))
    })
  })

const make = Effect.fnUntraced(function* (wire: Wire, process: string) {
  const idle: Array<Connection> = []
  const take = Effect.suspend(() => {
    const connection = idle.pop()
    return connection === undefined ? connect(wire, process) : Effect.succeed(connection)
  })
  const release = (connection: Connection) =>
    Effect.sync(() => {
      if (!connection.isBroken) idle.push(connection)
    })
  yield* Effect.addFinalizer(() => Effect.sync(() => idle.forEach((one) => one.close())))
  return yield* SqlClient.make({
    acquirer: Effect.uninterruptible(
      Effect.tap(take, (connection) =>
        Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, release(connection))),
      ),
    ),
    borrower: (use) => Effect.acquireUseRelease(take, (connection) => use(connection), release),
    compiler: Statement.makeCompilerSqlite(),
    driver: "simulated",
    beginTransaction: "BEGIN IMMEDIATE",
    spanAttributes: [],
  })
})

/** The client of one process of a node. */
export const layer = (
  parts: Omit<Wire, "after">,
  process: string,
): Layer.Layer<SqlClient.SqlClient> => {
  const dispatcher = parts.ground.scheduler.makeDispatcher()
  const after = (ms: number, task: () => void) => {
    const arrive = () => dispatcher.scheduleTask(task, 0)
    if (ms === 0) arrive()
    else parts.ground.clock.timer(ms, arrive)
  }
  return Layer.effect(SqlClient.SqlClient, make({ ...parts, after }, process)).pipe(
    Layer.provide(Reactivity.layer),
  )
}
