/**
 * The right of one running store to hold leases (L16). Its row in `colloquy_holders` says until when the leases of the store
 * are valid, by the clock of the database. It is renewed for as long as the store lives; a process that pauses longer than
 * `leaseFor` has lost the leases of all its conversations, and gets new ones under another token.
 *
 * ```
 *   no token ── first use ──▶ valid ── renewed in time ──▶ valid
 *      ▲                        └── not renewed in time ──▶ expired: every append of its writers fails
 *      └── next use or renewal ───────────────────────────────┘
 * ```
 */
import type { LeaseHolder } from "@colloquy/core/StoreErrors"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "./Dialect.ts"

/** A process as its holder row describes it. */
export interface HolderProcess extends Omit<LeaseHolder, "sinceMs"> {
  /** The same for all processes that know each other by their pid, and for no others. */
  readonly machine?: string
}

/** What the store knows about processes. */
export interface Processes {
  /** This one. Looked up at every renewal. */
  readonly own: () => HolderProcess
  /** True when that process has ended for certain. */
  readonly isEnded: (process: HolderProcess) => boolean
}

/** The holder row was not renewed in time. */
export class HolderExpired extends Data.TaggedError("HolderExpired") {}

/** A lease that is to be released. */
export interface HeldLease {
  readonly log: number
  readonly generation: number
}

const keyOf = ({ generation, log }: HeldLease): string => `${log} ${generation}`

/** The holder row of this store, and the leases under it. */
export class Holder {
  /** Leases whose writers exist in this process, with what closes the writer. */
  private readonly held = new Map<string, () => void>()
  /** Leases that could not be released when their writers ended. */
  private unreleased: Array<HeldLease> = []
  private token: string | undefined
  private hasEnded = false
  private readonly registering = Semaphore.makeUnsafe(1)
  private readonly sql: SqlClient
  private readonly dialect: Dialect
  private readonly leaseFor: Duration.Duration
  private readonly processes: Processes

  constructor(sql: SqlClient, dialect: Dialect, leaseFor: Duration.Duration, processes: Processes) {
    this.sql = sql
    this.dialect = dialect
    this.leaseFor = leaseFor
    this.processes = processes
  }

  /** Runs an effect with a valid token. It fails with `HolderExpired` when the token is not valid; then there is another one. */
  use<A, E, R>(
    take: (token: string) => Effect.Effect<A, E | HolderExpired, R>,
  ): Effect.Effect<A, Exclude<E, HolderExpired> | SqlError, R> {
    const once = Effect.flatMap(this.current, take)
    return Effect.catchIf(
      once,
      (error) => error instanceof HolderExpired,
      () => {
        this.token = undefined
        return once
      },
    ) as Effect.Effect<A, Exclude<E, HolderExpired> | SqlError, R>
  }

  /** Fails when the token is not valid at this moment, in the transaction that is open. */
  check(token: string): Effect.Effect<void, HolderExpired | SqlError> {
    const { dialect, sql } = this
    return Effect.flatMap(
      sql`SELECT 1 AS valid FROM colloquy_holders WHERE token = ${token} AND until_ms > ${dialect.nowMs}`,
      ([valid]) => (valid === undefined ? Effect.fail(new HolderExpired()) : Effect.void),
    )
  }

  /** True when that lease is one of this store and no writer has it: its release failed, or its taking was not answered. */
  isLeftOver(token: string | null, lease: HeldLease): boolean {
    return token !== null && token === this.token && !this.held.has(keyOf(lease))
  }

  isEnded(process: HolderProcess): boolean {
    return this.processes.isEnded(process)
  }

  /** Notes that a writer has this lease. */
  hold(lease: HeldLease, close: () => void): void {
    this.held.set(keyOf(lease), close)
  }

  /** Releases a lease; where the database cannot be reached, at the next renewal. */
  release(token: string, lease: HeldLease): Effect.Effect<void> {
    this.held.delete(keyOf(lease))
    // A writer may outlive the store, whose leases have ended then.
    if (this.hasEnded) return Effect.void
    return Effect.catch(this.clear(token, lease), () =>
      Effect.sync(() => void this.unreleased.push(lease)),
    )
  }

  /** Keeps the row valid, for ever. */
  get renewals(): Effect.Effect<never> {
    return this.renew.pipe(
      Effect.catch((error) => Effect.logWarning(`leases not renewed: ${error.message}`)),
      Effect.delay(Duration.millis(Duration.toMillis(this.leaseFor) / 3)),
      Effect.forever,
    )
  }

  /** Closes all writers and removes the row, and with it every lease of this store. */
  get end(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { sql, token } = this
      this.token = undefined
      this.hasEnded = true
      for (const close of this.held.values()) close()
      return token === undefined
        ? Effect.void
        : Effect.ignore(sql`DELETE FROM colloquy_holders WHERE token = ${token}`)
    })
  }

  private get current(): Effect.Effect<string, SqlError> {
    return Effect.suspend(() =>
      this.token === undefined
        ? this.registering.withPermit(
            Effect.suspend(() =>
              this.token === undefined ? this.register : Effect.succeed(this.token),
            ),
          )
        : Effect.succeed(this.token),
    )
  }

  private get register(): Effect.Effect<string, SqlError> {
    const { dialect, sql } = this
    // Rows of stores that ended without removing theirs; nothing refers to them after so long.
    const old = sql`DELETE FROM colloquy_holders WHERE until_ms < ${dialect.nowMs} - 86400000.0`
    const added = sql<{
      readonly token: string
    }>`INSERT INTO colloquy_holders (token, until_ms, process)
      VALUES (${dialect.newToken}, ${this.until}, ${this.process}) RETURNING token`
    return Effect.map(Effect.andThen(old, added), ([row]) => {
      const token = row?.token ?? ""
      this.token = token
      return token
    })
  }

  private get renew(): Effect.Effect<void, SqlError> {
    return Effect.gen({ self: this }, function* () {
      const { dialect, sql, token } = this
      if (token === undefined) return
      const [valid] =
        yield* sql`UPDATE colloquy_holders SET until_ms = ${this.until}, process = ${this.process}
        WHERE token = ${token} AND until_ms > ${dialect.nowMs} RETURNING token`
      if (valid === undefined && this.token === token) {
        this.token = undefined
        yield* Effect.logWarning("the leases of all conversations expired before they were renewed")
      }
      const { unreleased } = this
      this.unreleased = []
      for (const lease of unreleased) yield* this.release(token, lease)
    })
  }

  private clear(token: string, { generation, log }: HeldLease): Effect.Effect<void, SqlError> {
    return Effect.asVoid(this.sql`UPDATE colloquy_conversations SET holder = NULL
      WHERE log = ${log} AND generation = ${generation} AND holder = ${token}`)
  }

  private get until() {
    return this.sql`${this.dialect.nowMs} + ${Duration.toMillis(this.leaseFor)}`
  }

  private get process(): string {
    return JSON.stringify(this.processes.own())
  }
}
