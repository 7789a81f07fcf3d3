/**
 * The places of owners' conversations and turns, counted over all processes of the database. Each is a row under the holder
 * of the process that has it, and counts as long as the leases of that process are valid: those of a killed process end with
 * its leases. Takers of places of one owner follow one another by a lock of the database, so a limit is never exceeded.
 *
 * What cannot be written while the database cannot be reached is written after the next renewal of the leases.
 */
import type { Place, QuotaPlaces } from "@colloquy/core/QuotaPlaces"
import type { StoreError } from "@colloquy/core/StoreErrors"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlClient } from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "./Dialect.ts"
import type { Holder, HolderRows } from "./Holder.ts"
import { type Patience, retrying } from "./Retrying.ts"

/** A turn is not kept longer from its end, or its resumption, by a database that does not respond. */
const attempt = Duration.seconds(1)

/** A place, as this process wants it and as the database has it. */
interface Kept {
  readonly place: Place
  /** Excludes the renewal from what a caller changes, and the other way round. */
  readonly changing: Semaphore.Semaphore
  isWanted: boolean
  /** Holder under which the row may be; undefined if there is none. */
  token: string | undefined
  /** True if the row is there for certain. */
  isWritten: boolean
}

/** True if the row has to be written or removed by this process, whose token this is. */
const isPending = ({ isWanted, isWritten, token }: Kept, current: string): boolean =>
  isWanted ? !isWritten || token !== current : token !== undefined

const keyOf = ({ id, kind, owner }: Place): string => `${kind} ${id} ${owner}`

/** See the header. One per store. */
export class SqlPlaces implements QuotaPlaces, HolderRows {
  private readonly kept = new Map<string, Kept>()
  private readonly sql: SqlClient
  private readonly dialect: Dialect
  private readonly holder: Holder
  private readonly patience: Patience

  constructor(sql: SqlClient, dialect: Dialect, holder: Holder, patience: Patience) {
    this.sql = sql
    this.dialect = dialect
    this.holder = holder
    this.patience = patience
  }

  take(place: Place, max: number): Effect.Effect<boolean, StoreError> {
    const operation = place.kind === "turn" ? "append" : "create"
    return this.changing(place, (kept) => {
      return retrying(operation, this.patience, ({ mayBeDone }) =>
        this.holder.use((token) => {
          kept.token = token
          return Effect.map(this.insertBelow(place, max, token), (isTaken) => {
            kept.isWanted = isTaken
            kept.isWritten = isTaken
            // An earlier attempt may have left a row.
            if (!isTaken && !mayBeDone) kept.token = undefined
            return isTaken
          })
        }),
      )
    })
  }

  keep(place: Place): Effect.Effect<void> {
    return this.changing(place, (kept) => {
      kept.isWanted = true
      return this.soon(
        this.holder.use((token) => {
          kept.token = token
          return this.insert(kept, token)
        }),
      )
    })
  }

  release(place: Place): Effect.Effect<void> {
    return this.changing(place, (kept) => {
      const { token } = kept
      if (token === undefined) return Effect.void
      return this.soon(
        Effect.map(this.delete(place, token), () => {
          kept.token = undefined
        }),
      )
    })
  }

  isNeeded(): boolean {
    return this.kept.size > 0
  }

  renew(token: string): Effect.Effect<void, SqlError> {
    return Effect.forEach(
      [...this.kept.values()].filter((kept) => isPending(kept, token)),
      (kept) => kept.changing.withPermitsIfAvailable(1)(this.settle(kept, token)),
      { discard: true },
    )
  }

  remove(token: string): Effect.Effect<void, SqlError> {
    return Effect.asVoid(this.sql`DELETE FROM colloquy_places WHERE holder = ${token}`)
  }

  get removeInvalid(): Effect.Effect<void, SqlError> {
    const { dialect, sql } = this
    return Effect.asVoid(sql`DELETE FROM colloquy_places WHERE holder NOT IN
      (SELECT token FROM colloquy_holders WHERE until_ms > ${dialect.nowMs})`)
  }

  /** Has the database know what this process wants of the place. */
  private settle(kept: Kept, token: string): Effect.Effect<void, SqlError> {
    return Effect.gen({ self: this }, function* () {
      const { isWanted, place } = kept
      if (kept.token !== undefined && (!isWanted || kept.token !== token)) {
        yield* this.delete(place, kept.token)
        kept.token = undefined
      }
      if (isWanted) {
        kept.token = token
        yield* this.insert(kept, token)
      }
      this.forget(kept)
    })
  }

  /** Changes the place, which the process does not want any more unless the change says so. */
  private changing<A, E>(
    place: Place,
    change: (kept: Kept) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const key = keyOf(place)
      const known = this.kept.get(key)
      const kept: Kept = known ?? {
        place,
        changing: Semaphore.makeUnsafe(1),
        isWanted: false,
        token: undefined,
        isWritten: false,
      }
      const changed = Effect.suspend(() => {
        this.kept.set(key, kept)
        kept.isWanted = false
        kept.isWritten = false
        return Effect.ensuring(
          change(kept),
          Effect.sync(() => this.forget(kept)),
        )
      })
      return kept.changing.withPermit(changed)
    }).pipe(Effect.uninterruptible)
  }

  private forget({ isWanted, place, token }: Kept): void {
    if (!isWanted && token === undefined) this.kept.delete(keyOf(place))
  }

  /** Tries it once; the next renewal tries it again. */
  private soon(change: Effect.Effect<void, SqlError>): Effect.Effect<void> {
    return change.pipe(
      Effect.catchDefect((defect) =>
        defect instanceof SqlError ? Effect.fail(defect) : Effect.die(defect),
      ),
      Effect.interruptible,
      Effect.timeout(attempt),
      Effect.catch((error) => Effect.logDebug(`a place is changed later: ${error.message}`)),
    )
  }

  private insertBelow(place: Place, max: number, token: string) {
    const { dialect, sql } = this
    const { id, kind, owner } = place
    const isValid = sql`EXISTS (SELECT 1 FROM colloquy_holders WHERE token = ${token} AND until_ms > ${dialect.nowMs})`
    return sql.withTransaction(
      Effect.gen({ self: this }, function* () {
        yield* dialect.lockPlaces(kind, owner)
        const inserted = yield* sql`INSERT INTO colloquy_places (owner, kind, id, holder)
          SELECT ${owner}, ${kind}, ${id}, ${token}
          WHERE ${isValid} AND (SELECT count(*) FROM (${this.others(place, max)}) AS others) < ${max}
          ON CONFLICT (owner, kind, id, holder) DO UPDATE SET holder = excluded.holder
          RETURNING id`
        if (inserted.length === 0) yield* this.holder.check(token)
        return inserted.length > 0
      }),
    )
  }

  /** The ids that count besides this place; of more than `max` at least `max`. */
  private others({ id, kind, owner }: Place, max: number) {
    const { dialect, sql } = this
    const taken = sql`SELECT DISTINCT p.id FROM colloquy_places AS p
      JOIN colloquy_holders AS h ON h.token = p.holder AND h.until_ms > ${dialect.nowMs}
      WHERE p.owner = ${owner} AND p.kind = ${kind} AND p.id <> ${id}`
    if (kind === "turn") return taken
    return sql`${taken} UNION SELECT s.id FROM (SELECT c.id FROM colloquy_conversations AS c
      WHERE c.owner = ${owner} AND c.archived = 0 AND c.id <> ${id} LIMIT ${max}) AS s`
  }

  private insert(kept: Kept, token: string): Effect.Effect<void, SqlError> {
    const { id, kind, owner } = kept.place
    const inserted = this.sql`INSERT INTO colloquy_places (owner, kind, id, holder)
      VALUES (${owner}, ${kind}, ${id}, ${token}) ON CONFLICT DO NOTHING`
    return Effect.map(inserted, () => {
      kept.isWritten = true
    })
  }

  private delete({ id, kind, owner }: Place, token: string): Effect.Effect<void, SqlError> {
    return Effect.asVoid(this.sql`DELETE FROM colloquy_places
      WHERE owner = ${owner} AND kind = ${kind} AND id = ${id} AND holder = ${token}`)
  }
}
