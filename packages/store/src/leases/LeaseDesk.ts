/**
 * The leases of one process (L16). Every process holds one lock of the operating system for as long as it lives, on a file
 * of its own; the lease of a conversation is a small file that names the lock of its owner. An owner whose lock can be
 * acquired is dead, and its leases with it.
 *
 * Only the absence of a file counts as absence. Every other error of the file system leaves the question open, so that
 * the operation fails with it: a lease is never granted, and never declared lost, because something could not be read.
 */
import type { LeaseHolder } from "@colloquy/core/StoreErrors"
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Data from "effect/Data"
import { isAbsent } from "../internal/FileErrors.ts"
import { FileFault } from "../Files.ts"
import type { LeaseDisk, LeaseProcess, LockFile } from "./LeaseDisk.ts"

/** Another process is taking a lease at this moment. */
export class Crowded extends Data.TaggedError("Crowded") {}

interface LeaseText extends LeaseHolder {
  readonly owner: string
  readonly generation: number
}

/** A lease of this process. */
export interface Held {
  text: string
  readonly content: LeaseText
  readonly lastGeneration: number
  /** True when it was that of an owner that is dead. */
  readonly inherited: boolean
}

interface Found {
  readonly text: string
  readonly content: LeaseText
}

/** Undefined for a text that is no lease: files are replaced as a whole, so a crash of the machine left it. */
const parse = (text: string): LeaseText | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const content = value as LeaseText
  if (typeof content.owner !== "string" || !/^[0-9a-f-]{36}$/.test(content.owner)) return undefined
  const { generation } = content
  return { ...content, generation: Number.isSafeInteger(generation) ? generation : 0 }
}

export class LeaseDesk {
  private readonly folder: string
  private readonly disk: LeaseDisk
  private readonly process: LeaseProcess
  private own: LockFile | undefined
  private takers: LockFile | undefined
  /** Leases in use: a lease file of this process that is not among them was left behind. */
  private readonly held = new Map<ConversationId, Held>()
  /** Leases that could not be given back. */
  private readonly left = new Map<ConversationId, Held>()

  /** @param folder beside the conversations, made when there is none */
  constructor(folder: string, disk: LeaseDisk, process: LeaseProcess) {
    this.folder = folder
    this.disk = disk
    this.process = process
  }

  pathOf(id: ConversationId): string {
    return `${this.folder}/leases/${id}.json`
  }

  /** The lease, held from now on, or who holds it. Throws when that cannot be found out; nothing is held then. */
  take(id: ConversationId, sinceMs: number): Held | LeaseHeld | Crowded {
    const takers = this.begin()
    if (!takers.acquire()) return new Crowded()
    try {
      this.live()
      return this.taken(id, sinceMs)
    } finally {
      this.endTurn(takers)
    }
  }

  /** False once another process has the lease. Throws when that cannot be found out. */
  isHeld(id: ConversationId, { text }: Held): boolean {
    return this.textAt(this.pathOf(id)) === text
  }

  tell(id: ConversationId, held: Held, generation: number): void {
    if (!this.isHeld(id, held)) return
    held.text = this.write(this.pathOf(id), { ...held.content, generation })
  }

  /** Throws when the file could not be removed; it is tried again with the next lease that is given back. */
  giveBack(id: ConversationId, held: Held): void {
    if (this.held.get(id) === held) this.held.delete(id)
    this.left.set(id, held)
    for (const [each, lease] of this.left) {
      if (this.isHeld(each, lease)) this.removeIfThere(this.pathOf(each))
      this.left.delete(each)
    }
  }

  /** Throws when the file of its lock could not be removed; the lock itself is released in any case. */
  close(): void {
    this.own?.close()
    this.takers?.close()
    if (this.own !== undefined) this.removeIfThere(this.lockOf(this.process.owner))
  }

  private taken(id: ConversationId, sinceMs: number): Held | LeaseHeld {
    const path = this.pathOf(id)
    const found = this.found(path)
    if (found !== undefined && this.isInUse(id, found.content.owner)) {
      const { generation: _generation, owner: _owner, ...holder } = found.content
      return new LeaseHeld({ id, holder })
    }
    const { host, owner, pid } = this.process
    const lastGeneration = found?.content.generation ?? 0
    const content: LeaseText = { owner, pid, host, sinceMs, generation: lastGeneration }
    const inherited = found !== undefined
    const held = { text: this.write(path, content), content, lastGeneration, inherited }
    this.held.set(id, held)
    this.left.delete(id)
    return held
  }

  private isInUse(id: ConversationId, owner: string): boolean {
    return owner === this.process.owner ? this.held.has(id) : this.isAlive(owner)
  }

  private found(path: string): Found | undefined {
    const text = this.textAt(path)
    const content = text === undefined ? undefined : parse(text)
    return text === undefined || content === undefined ? undefined : { text, content }
  }

  private textAt(path: string): string | undefined {
    return unlessAbsent(() => this.disk.read(path))
  }

  private removeIfThere(path: string): void {
    unlessAbsent(() => this.disk.remove(path))
  }

  /** Whole or not at all, and different from every earlier one. */
  private write(path: string, content: LeaseText): string {
    const text = `${JSON.stringify({ ...content, nonce: this.process.nonce() })}\n`
    this.disk.write(`${path}.new`, text)
    this.disk.rename(`${path}.new`, path)
    return text
  }

  private lockOf(owner: string): string {
    return `${this.folder}/owners/${owner}.lock`
  }

  private begin(): LockFile {
    if (this.takers !== undefined) return this.takers
    for (const name of ["leases", "owners"]) this.disk.makeFolder(`${this.folder}/${name}`)
    this.takers = this.disk.lockFile(`${this.folder}/takers.lock`)
    return this.takers
  }

  private endTurn(takers: LockFile): void {
    try {
      takers.release()
    } catch {
      // Closing the file releases the lock in any case; the next take opens it again.
      takers.close()
      this.takers = undefined
    }
  }

  /** Within the turn of a taker, so that no process takes a lock that is only just being made for a dead one's. */
  private live(): void {
    if (this.own !== undefined) return
    for (const name of this.disk.list(`${this.folder}/owners`)) {
      const owner = /^([0-9a-f-]{36})\.lock$/.exec(name)?.[1]
      if (owner !== undefined && owner !== this.process.owner) this.isAlive(owner)
    }
    const own = this.disk.lockFile(this.lockOf(this.process.owner))
    try {
      if (!own.acquire()) throw faultOf(this.lockOf(this.process.owner), "EBUSY")
    } catch (error) {
      own.close()
      throw error
    }
    this.own = own
  }

  /** The file of a dead owner's lock is removed. */
  private isAlive(owner: string): boolean {
    const path = this.lockOf(owner)
    const isThere = unlessAbsent(() => {
      this.disk.stat(path)
      return true
    })
    if (isThere === undefined) return false
    const lock = this.disk.lockFile(path)
    try {
      if (!lock.acquire()) return true
      this.removeIfThere(path)
      return false
    } finally {
      lock.close()
    }
  }
}

const faultOf = (path: string, code: string): FileFault =>
  new FileFault({ operation: "lease", path, code })

/** Undefined where the file is not there; any other error is thrown on. */
const unlessAbsent = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch (error) {
    if (error instanceof FileFault && isAbsent(error)) return undefined
    throw error
  }
}
