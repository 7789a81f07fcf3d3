/**
 * Leases between processes of a machine (L16). Every process holds one lock of the operating system for as long as it
 * lives, on an empty file of its own; the lease of a conversation is a small file that names the lock of its owner. An
 * owner whose lock can be taken is dead, and its leases with it, whatever it was doing.
 *
 * One lock per process, not per conversation: a `node:sqlite` file with `BEGIN EXCLUSIVE` costs 150 KiB and a descriptor
 * (measured), and a process has thousands of conversations open.
 */
import type { LeaseHolder } from "@colloquy/core/store/StoreErrors"
import { LeaseHeld } from "@colloquy/core/store/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import * as FS from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { FileFault } from "../Files.ts"
import { Leases } from "../Leases.ts"
import { makeFolders } from "./MakeFolders.ts"
import { busy, closeQuietly, sqlite, sqliteCode } from "./Sqlite.ts"

/** Somebody else is taking a lease at this moment. */
class Crowded extends Data.TaggedError("Crowded") {}

/** Taking a lease takes well under a millisecond; whoever waits longer waits for somebody who is stopped. */
const patience = Duration.seconds(5)

const retry = Schedule.spaced("3 millis").pipe(Schedule.upTo({ duration: patience }))

const codeOf = (error: unknown): string => {
  if (error instanceof FileFault) return error.code
  // SQLite cannot open the file: a permission, mostly.
  if (sqliteCode(error) === 14 || sqliteCode(error) === 8) return "EACCES"
  if (sqliteCode(error) === 13) return "ENOSPC"
  return error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"
}

/** The file stays empty for ever; a journal beside it would outlive a process that is killed. */
const lock = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"

interface Told extends LeaseHolder {
  readonly owner: string
  readonly generation: number
}

/** One that is held. */
interface Held {
  text: string
  readonly told: Told
  readonly lastGeneration: number
  readonly inherited: boolean
}

/** A file that nobody can read has no owner. */
const read = (path: string): { readonly text: string; readonly told: Told } | undefined => {
  try {
    const text = FS.readFileSync(path, "utf8")
    const told = JSON.parse(text) as Told
    const { generation } = told
    return typeof told.owner === "string" && /^[0-9a-f-]{36}$/.test(told.owner)
      ? { text, told: { ...told, generation: Number.isSafeInteger(generation) ? generation : 0 } }
      : undefined
  } catch {
    return undefined
  }
}

/** Whole or not at all, and told apart from an earlier one of the same process. */
const write = (path: string, told: Told): string => {
  const text = `${JSON.stringify({ ...told, nonce: randomUUID() })}\n`
  FS.writeFileSync(`${path}.new`, text, { mode: 0o600 })
  FS.renameSync(`${path}.new`, path)
  return text
}

class Desk {
  private readonly folder: string
  private readonly Sqlite: typeof DatabaseSync
  private readonly owner = randomUUID()
  private own: DatabaseSync | undefined
  private takers: DatabaseSync | undefined

  constructor(folder: string, Sqlite: typeof DatabaseSync) {
    this.folder = folder
    this.Sqlite = Sqlite
  }

  pathOf(id: ConversationId): string {
    return join(this.folder, "leases", `${id}.json`)
  }

  /** The lease, held from now on, or who holds it. Throws when that cannot be told. */
  take(id: ConversationId, sinceMs: number): Held | LeaseHeld | Crowded {
    this.begin()
    const { takers } = this
    try {
      takers?.exec(lock)
    } catch (error) {
      if (sqliteCode(error) === busy) return new Crowded()
      throw error
    }
    try {
      this.live()
      const path = this.pathOf(id)
      const held = read(path)
      if (held !== undefined && this.isAlive(held.told.owner)) {
        const { generation: _generation, owner: _owner, ...holder } = held.told
        return new LeaseHeld({ id, holder })
      }
      const lastGeneration = held?.told.generation ?? 0
      const told: Told = {
        owner: this.owner,
        pid: process.pid,
        host: hostname(),
        sinceMs,
        generation: lastGeneration,
      }
      return { text: write(path, told), told, lastGeneration, inherited: held !== undefined }
    } finally {
      takers?.exec("ROLLBACK")
    }
  }

  isHeld(id: ConversationId, { text }: Held): boolean {
    return read(this.pathOf(id))?.text === text
  }

  tell(id: ConversationId, held: Held, generation: number): void {
    if (this.isHeld(id, held)) held.text = write(this.pathOf(id), { ...held.told, generation })
  }

  giveBack(id: ConversationId, held: Held): void {
    if (this.isHeld(id, held)) FS.rmSync(this.pathOf(id), { force: true })
  }

  close(): void {
    for (const database of [this.own, this.takers]) {
      if (database !== undefined) closeQuietly(database)
    }
    if (this.own !== undefined) FS.rmSync(this.lockOf(this.owner), { force: true })
  }

  private lockOf(owner: string): string {
    return join(this.folder, "owners", `${owner}.lock`)
  }

  private begin(): void {
    if (this.takers !== undefined) return
    for (const name of ["leases", "owners"]) {
      makeFolders(join(this.folder, name), 0o700)
    }
    this.takers = new this.Sqlite(join(this.folder, "takers.lock"), { timeout: 0 })
  }

  /** Within the turn of a taker, so that nobody takes a lock that is only just being made for a dead one's. */
  private live(): void {
    if (this.own !== undefined) return
    for (const name of FS.readdirSync(join(this.folder, "owners"))) {
      const owner = /^([0-9a-f-]{36})\.lock$/.exec(name)?.[1]
      if (owner !== undefined) this.isAlive(owner)
    }
    const own = new this.Sqlite(this.lockOf(this.owner), { timeout: 0 })
    own.exec(lock)
    this.own = own
  }

  /** The lock of a dead one is removed. */
  private isAlive(owner: string): boolean {
    if (owner === this.owner) return true
    const path = this.lockOf(owner)
    if (!FS.existsSync(path)) return false
    const found = new this.Sqlite(path, { timeout: 0 })
    try {
      found.exec(lock)
      FS.rmSync(path, { force: true })
      return false
    } catch (error) {
      if (sqliteCode(error) === busy) return true
      throw error
    } finally {
      closeQuietly(found)
    }
  }
}

/** @param folder beside the conversations, made when there is none */
export const layer = (folder: string): Layer.Layer<Leases> =>
  Layer.effect(
    Leases,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const desk = yield* Effect.cached(
        sqlite.pipe(
          Effect.map(({ DatabaseSync }) => new Desk(folder, DatabaseSync)),
          Effect.tap((made) =>
            Scope.addFinalizer(
              scope,
              Effect.sync(() => made.close()),
            ),
          ),
        ),
      )
      const fault = (path: string) => (error: unknown) =>
        new FileFault({ operation: "lease", path, code: codeOf(error) })
      const take = (made: Desk, id: ConversationId, sinceMs: number) =>
        Effect.try({
          try: () => made.take(id, sinceMs),
          catch: fault(made.pathOf(id)),
        }).pipe(
          Effect.filterOrFail(
            (taken): taken is Held => !("_tag" in taken),
            (taken) => taken as LeaseHeld | Crowded,
          ),
          Effect.retry({ schedule: retry, while: (error) => error._tag === "Crowded" }),
          Effect.catchTag("Crowded", () =>
            Effect.fail(
              new FileFault({ operation: "lease", path: made.pathOf(id), code: "ETIMEDOUT" }),
            ),
          ),
        )
      return {
        take: Effect.fnUntraced(function* (id) {
          const made = yield* desk
          const sinceMs = yield* Clock.currentTimeMillis
          const held = yield* Effect.acquireRelease(take(made, id, sinceMs), (taken) =>
            Effect.sync(() => made.giveBack(id, taken)),
          )
          return {
            inherited: held.inherited,
            lastGeneration: held.lastGeneration,
            tellGeneration: (generation) =>
              Effect.try({
                try: () => made.tell(id, held, generation),
                catch: fault(made.pathOf(id)),
              }),
            isHeld: Effect.sync(() => made.isHeld(id, held)),
          }
        }),
      }
    }),
  )
