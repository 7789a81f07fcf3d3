/**
 * The leases of one process (L16). Every process holds one lock of the operating system on a file
 * of its own, `owners/<uuid>.lock`, until it ends. The lease of a conversation is a small file,
 * `leases/<id>.json`, that names its owner. If the lock of an owner can be acquired, that process
 * has ended and its leases are free. `takers.lock` serializes the processes that take leases.
 *
 *   free ── take ──▶ held ── release ──▶ free
 *                     │ └── release fails ──▶ unreleased ── retried ──▶ free
 *                     └── the process ends ──▶ orphaned ── take (by any process) ──▶ held
 *
 * Only the absence of a file counts as absence. After every other file system error the state is
 * unknown, so the operation fails with that error: a lease is never granted and never declared lost
 * because something could not be read.
 */
import type { LeaseHolder } from "@colloquy/core/StoreErrors"
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Data from "effect/Data"
import { isAbsent } from "../internal/FileErrors.ts"
import { FileFault } from "../Files.ts"
import type { LeaseFiles, LeaseProcess, LockFile } from "./LeaseFiles.ts"

/** Another process is taking a lease at this moment. */
export class TakersLocked extends Data.TaggedError("TakersLocked") {}

interface LeaseContent extends LeaseHolder {
  readonly owner: string
  readonly generation: number
}

/** A lease of this process. */
export interface HeldLease {
  /** Exact contents of the lease file; the lease is held while the file has them. */
  text: string
  readonly content: LeaseContent
  /** Generation in the lease that was taken over, or 0. */
  readonly lastGeneration: number
  /** True when the lease was taken over from a process that has ended. */
  readonly inherited: boolean
}

interface FoundLease {
  readonly text: string
  readonly content: LeaseContent
}

/**
 * Undefined for a text that is not a lease. Lease files are replaced as a whole, so such a text can
 * only be the result of a crash of the machine.
 */
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

/** Takes, checks and releases the leases of this process. All methods are synchronous. */
export class ProcessLeases {
  private readonly folder: string
  private readonly files: LeaseFiles
  private readonly process: LeaseProcess
  private ownerLock: LockFile | undefined
  private takersLock: LockFile | undefined
  /** Leases in use. A lease file of this process that is not among them was left behind. */
  private readonly held = new Map<ConversationId, HeldLease>()
  /** Leases whose files could not be removed yet. */
  private readonly unreleased = new Map<ConversationId, HeldLease>()

  /** @param folder created when it is missing; shared by all processes of the state directory */
  constructor(folder: string, disk: LeaseFiles, process: LeaseProcess) {
    this.folder = folder
    this.files = disk
    this.process = process
  }

  /** Path of the lease file of a conversation. */
  pathOf(id: ConversationId): string {
    return `${this.folder}/leases/${id}.json`
  }

  /**
   * Takes the lease, or returns who holds it. Throws when that cannot be determined; nothing is
   * held then.
   */
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

  /** False once another process has the lease. Throws when that cannot be determined. */
  isHeld(id: ConversationId, { text }: HeldLease): boolean {
    return this.textAt(this.pathOf(id)) === text
  }

  /**
   * Writes the generation of a writer into the lease file. Does nothing when the lease is lost.
   * Throws when the file cannot be written.
   */
  recordGeneration(id: ConversationId, held: HeldLease, generation: number): void {
    if (!this.isHeld(id, held)) return
    held.text = this.write(this.pathOf(id), { ...held.content, generation })
  }

  /**
   * Releases a lease and retries the removal of files that an earlier release left. Throws when a
   * file could not be removed; its removal is retried with the next release.
   */
  release(id: ConversationId, held: HeldLease): void {
    if (this.held.get(id) === held) this.held.delete(id)
    this.unreleased.set(id, held)
    for (const [each, lease] of this.unreleased) {
      if (this.isHeld(each, lease)) this.removeIfThere(this.pathOf(each))
      this.unreleased.delete(each)
    }
  }

  /**
   * Ends all leases of the process. Throws when its lock file could not be removed; the lock itself
   * is released in any case.
   */
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

  /**
   * Replaces a file atomically. The text is different from every earlier one because of its nonce.
   */
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

  /**
   * Acquires the lock of this process, once. Runs while `takers.lock` is held, so that no other
   * process takes a lock file that is just being created for the lock of an ended process.
   */
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

  /** Removes the lock file of an owner that has ended. */
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

/** Returns undefined when the file does not exist; any other error is thrown. */
const unlessAbsent = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch (error) {
    if (error instanceof FileFault && isAbsent(error)) return undefined
    throw error
  }
}
