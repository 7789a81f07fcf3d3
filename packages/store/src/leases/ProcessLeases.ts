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
import type { LeaseFiles, LeaseProcess, LockFile } from "./LeaseFiles.ts"

/** Another process is taking a lease at this moment. */
export class TakersLocked extends Data.TaggedError("Crowded") {}

interface LeaseContent extends LeaseHolder {
  readonly owner: string
  readonly generation: number
}

/** A lease of this process. */
export interface HeldLease {
  text: string
  readonly content: LeaseContent
  readonly lastGeneration: number
  /** True when it was that of an owner that is dead. */
  readonly inherited: boolean
}

interface FoundLease {
  readonly text: string
  readonly content: LeaseContent
}

/** Undefined for a text that is no lease: files are replaced as a whole, so a crash of the machine left it. */
const parse = (text: string): LeaseContent | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const content = value as LeaseContent
  if (typeof content.owner !== "string" || !/^[0-9a-f-]{36}$/.test(content.owner)) return undefined
  const { generation } = content
  return { ...content, generation: Number.isSafeInteger(generation) ? generation : 0 }
}

export class ProcessLeases {
  private readonly folder: string
  private readonly files: LeaseFiles
  private readonly process: LeaseProcess
  private ownerLock: LockFile | undefined
  private takersLock: LockFile | undefined
  /** Leases in use: a lease file of this process that is not among them was left behind. */
  private readonly held = new Map<ConversationId, HeldLease>()
  /** Leases that could not be given back. */
  private readonly unreleased = new Map<ConversationId, HeldLease>()

  /** @param folder beside the conversations, made when there is none */
  constructor(folder: string, disk: LeaseFiles, process: LeaseProcess) {
    this.folder = folder
    this.files = disk
    this.process = process
  }

  pathOf(id: ConversationId): string {
    return `${this.folder}/leases/${id}.json`
  }

  /** The lease, held from now on, or who holds it. Throws when that cannot be found out; nothing is held then. */
  take(id: ConversationId, sinceMs: number): HeldLease | LeaseHeld | TakersLocked {
    const takers = this.openTakersLock()
    if (!takers.acquire()) return new TakersLocked()
    try {
      this.acquireOwnerLock()
      return this.takeLocked(id, sinceMs)
    } finally {
      this.releaseTakersLock(takers)
    }
  }

  /** False once another process has the lease. Throws when that cannot be found out. */
  isHeld(id: ConversationId, { text }: HeldLease): boolean {
    return this.textAt(this.pathOf(id)) === text
  }

  recordGeneration(id: ConversationId, held: HeldLease, generation: number): void {
    if (!this.isHeld(id, held)) return
    held.text = this.write(this.pathOf(id), { ...held.content, generation })
  }

  /** Throws when the file could not be removed; it is tried again with the next lease that is given back. */
  release(id: ConversationId, held: HeldLease): void {
    if (this.held.get(id) === held) this.held.delete(id)
    this.unreleased.set(id, held)
    for (const [each, lease] of this.unreleased) {
      if (this.isHeld(each, lease)) this.removeIfThere(this.pathOf(each))
      this.unreleased.delete(each)
    }
  }

  /** Throws when the file of its lock could not be removed; the lock itself is released in any case. */
  close(): void {
    this.ownerLock?.close()
    this.takersLock?.close()
    if (this.ownerLock !== undefined) this.removeIfThere(this.lockOf(this.process.owner))
  }

  private takeLocked(id: ConversationId, sinceMs: number): HeldLease | LeaseHeld {
    const path = this.pathOf(id)
    const findLease = this.found(path)
    if (findLease !== undefined && this.isInUse(id, findLease.content.owner)) {
      const { generation: _generation, owner: _owner, ...holder } = findLease.content
      return new LeaseHeld({ id, holder })
    }
    const { host, owner, pid } = this.process
    const lastGeneration = findLease?.content.generation ?? 0
    const content: LeaseContent = { owner, pid, host, sinceMs, generation: lastGeneration }
    const inherited = findLease !== undefined
    const held = { text: this.write(path, content), content, lastGeneration, inherited }
    this.held.set(id, held)
    this.unreleased.delete(id)
    return held
  }

  private isInUse(id: ConversationId, owner: string): boolean {
    return owner === this.process.owner ? this.held.has(id) : this.isOwnerAlive(owner)
  }

  private found(path: string): FoundLease | undefined {
    const text = this.textAt(path)
    const content = text === undefined ? undefined : parse(text)
    return text === undefined || content === undefined ? undefined : { text, content }
  }

  private textAt(path: string): string | undefined {
    return unlessAbsent(() => this.files.read(path))
  }

  private removeIfThere(path: string): void {
    unlessAbsent(() => this.files.remove(path))
  }

  /** Whole or not at all, and different from every earlier one. */
  private write(path: string, content: LeaseContent): string {
    const text = `${JSON.stringify({ ...content, nonce: this.process.nonce() })}\n`
    this.files.write(`${path}.new`, text)
    this.files.rename(`${path}.new`, path)
    return text
  }

  private lockOf(owner: string): string {
    return `${this.folder}/owners/${owner}.lock`
  }

  private openTakersLock(): LockFile {
    if (this.takersLock !== undefined) return this.takersLock
    for (const name of ["leases", "owners"]) this.files.makeFolder(`${this.folder}/${name}`)
    this.takersLock = this.files.lockFile(`${this.folder}/takers.lock`)
    return this.takersLock
  }

  private releaseTakersLock(takers: LockFile): void {
    try {
      takers.release()
    } catch {
      // Closing the file releases the lock in any case; the next take opens it again.
      takers.close()
      this.takersLock = undefined
    }
  }

  /** Within the turn of a taker, so that no process takes a lock that is only just being made for a dead one's. */
  private acquireOwnerLock(): void {
    if (this.ownerLock !== undefined) return
    for (const name of this.files.list(`${this.folder}/owners`)) {
      const owner = /^([0-9a-f-]{36})\.lock$/.exec(name)?.[1]
      if (owner !== undefined && owner !== this.process.owner) this.isOwnerAlive(owner)
    }
    const own = this.files.lockFile(this.lockOf(this.process.owner))
    try {
      if (!own.acquire()) throw faultOf(this.lockOf(this.process.owner), "EBUSY")
    } catch (error) {
      own.close()
      throw error
    }
    this.ownerLock = own
  }

  /** The file of a dead owner's lock is removed. */
  private isOwnerAlive(owner: string): boolean {
    const path = this.lockOf(owner)
    const isThere = unlessAbsent(() => {
      this.files.stat(path)
      return true
    })
    if (isThere === undefined) return false
    const lock = this.files.lockFile(path)
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
