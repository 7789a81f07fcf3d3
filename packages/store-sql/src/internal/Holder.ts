/**
 * The right of one running store to hold leases (L16). Its row in `colloquy_holders` says until when the leases of the store
 * are valid, by the clock of the database. It is renewed for as long as the store lives; a process that pauses longer than
 * `leaseFor` has lost the leases of all its conversations, and gets new ones under another token.
 *
 * ```
 *   no token ── first use ──▶ valid ── renewed in time ──▶ valid
 *      ▲                        └── not renewed in time ──▶ expired: every append of its writers fails
 *      └── next use or renewal: its writers are lost ─────────┘
 * ```
 */
import type { LeaseHolder } from "@colloquy/core/StoreErrors"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlClient } from "effect/sql/SqlClient"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
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

/** The writer that has a lease. */
export interface HeldWriter {
  /** Appends nothing any more, since the store ends. */
  readonly close: () => void
  /** Likewise, since the lease has expired. */
  readonly lose: () => void
}

/** A lease under the token of a store. */
interface TokenLease extends HeldLease {
  readonly token: string
}

const noAnswer = new SqlError({
  reason: new ConnectionError({ cause: undefined, message: "no answer in time" }),
})

/** Rows of this store besides its leases that are valid as long as its token is. */
export interface HolderRows {
  /** True while the store needs a valid token for them. */
  readonly isNeeded: () => boolean
  /** Writes those that are not under this token yet, and removes those that are not needed. Called after each renewal. */
  readonly renew: (token: string) => Effect.Effect<void, SqlError>
  /** Removes those under this token. */
  readonly remove: (token: string) => Effect.Effect<void, SqlError>
  /** Removes those of all processes whose tokens are not valid any more. */
  readonly removeInvalid: Effect.Effect<void, SqlError>
}

const keyOf = ({ generation, log }: HeldLease): string => `${log} ${generation}`

/** The holder row of this store, and the leases under it. */
export class Holder {
  /** Leases whose writers exist in this process. */
  private readonly held = new Map<string, { readonly token: string; readonly writer: HeldWriter }>()
  /** Leases that could not be released when their writers ended. */
  private unreleased: Array<TokenLease> = []
  private token: string | undefined
  private hasEnded = false
  private rows: HolderRows | undefined
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

  /** Keeps these rows valid as well. */
  keep(rows: HolderRows): void {
    this.rows = rows
  }

  /** Runs an effect with a valid token. It fails with `HolderExpired` when the token is not valid; then there is another one. */
  use<A, E, R>(
    take: (token: string) => Effect.Effect<A, E | HolderExpired, R>,
  ): Effect.Effect<A, Exclude<E, HolderExpired> | SqlError, R> {
    return Effect.flatMap(this.current, (token) =>
      Effect.catchIf(
        take(token),
        (error) => error instanceof HolderExpired,
        () => Effect.andThen(this.expire(token), Effect.flatMap(this.current, take)),
      ),
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

  /** Notes that a writer has this lease, which may have expired since it was taken. */
  hold(token: string, lease: HeldLease, writer: HeldWriter): void {
    this.held.set(keyOf(lease), { token, writer })
    if (token !== this.token) writer.lose()
  }

  /** Releases a lease; where the database cannot be reached, at the next renewal. */
  release(token: string, lease: HeldLease): Effect.Effect<void> {
    this.held.delete(keyOf(lease))
    // A writer may outlive the store, whose leases have ended then.
    if (this.hasEnded) return Effect.void
    return Effect.catch(this.withinRenewal(this.clear(token, lease)), () =>
      Effect.sync(() => void this.unreleased.push({ ...lease, token })),
    )
  }

  /**
   * Keeps the row valid, for ever. Where it has expired, as after a pause of the process, the writers under it learn so here
   * at the latest. A renewal without an answer is given up, since the next one would wait for it.
   */
  get renewals(): Effect.Effect<never> {
    return this.withinRenewal(this.renew).pipe(
      Effect.catch((error) => Effect.logWarning(`leases not renewed: ${error.message}`)),
      Effect.delay(this.renewEvery),
      Effect.forever,
    )
  }

  /**
   * Closes all writers and removes the row, and with it every lease of this store. Where the database does not do so within
   * the time of a renewal the leases expire instead.
   */
  get end(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { token } = this
      this.token = undefined
      this.hasEnded = true
      for (const { writer } of this.held.values()) writer.close()
      return token === undefined ? Effect.void : this.withinRenewal(this.remove(token))
    }).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`leases not released, they expire instead: ${error.message}`),
      ),
    )
  }

  private remove(token: string): Effect.Effect<void, SqlError> {
    return Effect.andThen(
      this.rows?.remove(token) ?? Effect.void,
      Effect.asVoid(this.sql`DELETE FROM colloquy_holders WHERE token = ${token}`),
    )
  }

  /** Gives up what has no answer when the next renewal is due. */
  private withinRenewal<A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> {
    return Effect.timeoutOrElse(Effect.interruptible(effect), {
      duration: this.renewEvery,
      orElse: () => Effect.fail(noAnswer),
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
    const cleaned = Effect.andThen(old, this.rows?.removeInvalid ?? Effect.void)
    return Effect.flatMap(Effect.andThen(cleaned, added), ([row]) => {
      const token = row?.token ?? ""
      this.token = token
      return Effect.as(this.renewRows(token), token)
    })
  }

  /** What cannot be written in time, within a renewal, is written after the next one. */
  private renewRows(token: string): Effect.Effect<void> {
    if (this.rows === undefined) return Effect.void
    return this.rows.renew(token).pipe(
      Effect.timeout(Duration.times(this.renewEvery, 0.5)),
      Effect.catch((error) => Effect.logDebug(`places not renewed: ${error.message}`)),
    )
  }

  private get renewEvery(): Duration.Duration {
    return Duration.millis(Duration.toMillis(this.leaseFor) / 3)
  }

  private get renew(): Effect.Effect<void, SqlError> {
    return Effect.gen({ self: this }, function* () {
      const { dialect, sql, token } = this
      const isNeeded = this.rows?.isNeeded() ?? false
      if (token === undefined) return isNeeded ? yield* Effect.asVoid(this.current) : undefined
      const [valid] =
        yield* sql`UPDATE colloquy_holders SET until_ms = ${this.until}, process = ${this.process}
        WHERE token = ${token} AND until_ms > ${dialect.nowMs} RETURNING token`
      if (valid === undefined) {
        yield* this.expire(token)
        if (isNeeded) yield* this.current
      } else yield* this.renewRows(token)
      const { unreleased } = this
      this.unreleased = []
      for (const { token: of, ...lease } of unreleased) yield* this.release(of, lease)
    })
  }

  /** The token is not valid any more: the leases under it are lost, and the next use registers another one. */
  private expire(token: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.token !== token) return Effect.void
      this.token = undefined
      const lost = [...this.held.values()].filter((one) => one.token === token)
      for (const { writer } of lost) writer.lose()
      return Effect.logWarning(
        `the leases of all ${lost.length} conversations expired before they were renewed`,
      )
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
