/**
 * The leases of one process (L16). Every process holds one lock of the operating system on a file
 * of its own, `owners/<uuid>.lock`, until it ends. The lease of a conversation is a small file,
 * `leases/<id>.json`, that names its owner. If the lock of an owner can be acquired, that process
 * has ended and its leases are free.
 *
 * A lease file appears at once with its contents, by a link to a file that is written before, so a
 * lease that has no file is taken without a lock: of several processes one gets the link. A file
 * that exists is replaced only under `takers.lock`, which serializes the processes that look
 * whether its owner is alive.
 *
 *   free ── take ──▶ held ── release ──▶ free
 *                     │ └── release fails ──▶ unreleased ── retried ──▶ free
 *                     └── the process ends ──▶ orphaned ── take (by any process) ──▶ held
 *
 * Only the absence of a file counts as absence. After every other file system error the state is
 * unknown, so the operation fails with that error: a lease is never granted and never declared lost
 * because something could not be read.
 *
 * The check of a held lease compares the stamp of its file, which costs one file operation. A lease
 * that another process takes over gets another file while the old one still exists, and so another
 * stamp. Whatever has another stamp is read: its text, which no other lease has, decides.
 */
import type { LeaseHolder } from "@colloquy/core/StoreErrors"
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Data from "effect/Data"
import { isAbsent } from "../internal/FileErrors.ts"
import { FileFault } from "../Files.ts"
import type { FileStamp, LeaseFiles, LeaseProcess, LockFile } from "./LeaseFiles.ts"

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
  /** Stamp of the lease file with these contents. */
  stamp: FileStamp
  readonly content: LeaseContent
  /** Generation in the lease that was taken over, or 0. */
  readonly lastGeneration: number
  /** True when the lease was taken over from a process that has ended. */
  readonly inherited: boolean
}

/** The contents of a lease file that was written, and its stamp. */
type WrittenLease = Pick<HeldLease, "text" | "stamp">

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
  const { generation, url, ...rest } = content
  return {
    ...rest,
    generation: Number.isSafeInteger(generation) ? generation : 0,
    ...(typeof url === "string" ? { url } : {}),
  }
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
  /** False once the file system refused a link: every lease is taken under `takers.lock` then. */
  private canLink = true

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
    const free = this.takeFree(id, sinceMs)
    if (free !== undefined) return free
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
  isHeld(id: ConversationId, held: HeldLease): boolean {
    // A lease that this process took again has another file, but may have the inode of the old one.
    return this.held.get(id) === held && this.hasItsFile(id, held)
  }

  /**
   * Writes the generation of a writer into the lease file. Does nothing when the lease is lost.
   * Throws when the file cannot be written.
   */
  recordGeneration(id: ConversationId, held: HeldLease, generation: number): void {
    if (!this.isHeld(id, held)) return
    Object.assign(held, this.replace(this.pathOf(id), { ...held.content, generation }))
  }

  /**
   * Releases a lease and retries the removal of files that an earlier release left. Throws when a
   * file could not be removed; its removal is retried with the next release.
   */
  release(id: ConversationId, held: HeldLease): void {
    if (this.held.get(id) === held) this.held.delete(id)
    this.unreleased.set(id, held)
    for (const [each, lease] of this.unreleased) {
      if (this.hasItsFile(each, lease)) this.removeIfThere(this.pathOf(each))
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
    if (this.ownerLock === undefined) return
    this.removeIfThere(this.draftOf(this.process.owner))
    this.removeIfThere(this.lockOf(this.process.owner))
  }

  /**
   * Takes a lease that has no file. Undefined when it has one, when this process has no lock yet
   * that shows that it lives, or when the file system has no links.
   */
  private takeFree(id: ConversationId, sinceMs: number): HeldLease | undefined {
    if (this.ownerLock === undefined || !this.canLink || this.held.has(id)) return undefined
    const draft = this.draftOf(this.process.owner)
    const content = this.contentOf(sinceMs, 0)
    const written = this.createDraft(draft, content)
    try {
      this.files.link(draft, this.pathOf(id))
    } catch (error) {
      if (!hasCode(error, "EEXIST")) this.canLink = false
      return undefined
    } finally {
      this.discardDraft(draft)
    }
    return this.hold(id, { ...written, content, lastGeneration: 0, inherited: false })
  }

  private takeLocked(id: ConversationId, sinceMs: number): HeldLease | LeaseHeld | TakersLocked {
    const path = this.pathOf(id)
    const text = this.textAt(path)
    const earlier = text === undefined ? undefined : parse(text)
    if (earlier !== undefined && this.isInUse(id, earlier.owner)) {
      const { generation: _generation, owner: _owner, ...holder } = earlier
      return new LeaseHeld({ id, holder })
    }
    const lastGeneration = earlier?.generation ?? 0
    const content = this.contentOf(sinceMs, lastGeneration)
    const written =
      text === undefined ? this.createUnlessThere(path, content) : this.replace(path, content)
    // Another process has taken it without the lock in between.
    if (written === undefined) return new TakersLocked()
    return this.hold(id, { ...written, content, lastGeneration, inherited: earlier !== undefined })
  }

  private hold(id: ConversationId, held: HeldLease): HeldLease {
    this.held.set(id, held)
    this.unreleased.delete(id)
    return held
  }

  private contentOf(sinceMs: number, generation: number): LeaseContent {
    const { host, owner, pid } = this.process
    const url = this.process.url?.()
    return { owner, pid, host, sinceMs, generation, ...(url === undefined ? {} : { url }) }
  }

  /** True while the file of the lease is the one that was written, or has its text. */
  private hasItsFile(id: ConversationId, { stamp, text }: HeldLease): boolean {
    const path = this.pathOf(id)
    const found = unlessAbsent(() => this.files.stat(path))
    return found !== undefined && (found === stamp || this.textAt(path) === text)
  }

  private isInUse(id: ConversationId, owner: string): boolean {
    return owner === this.process.owner ? this.held.has(id) : this.isOwnerAlive(owner)
  }

  private textAt(path: string): string | undefined {
    return unlessAbsent(() => this.files.read(path))
  }

  private removeIfThere(path: string): void {
    unlessAbsent(() => this.files.remove(path))
  }

  /** Text of a lease file. Different from every earlier one because of its nonce. */
  private textOf(content: LeaseContent): string {
    return `${JSON.stringify({ ...content, nonce: this.process.nonce() })}\n`
  }

  /** Replaces a file atomically. */
  private replace(path: string, content: LeaseContent): WrittenLease {
    const text = this.textOf(content)
    const stamp = this.files.write(`${path}.new`, text)
    this.files.rename(`${path}.new`, path)
    return { text, stamp }
  }

  /**
   * Creates a lease file; undefined when it exists. No other process reads it while it is being
   * written, because this one has `takers.lock`. Where that fails it may contain a part of the
   * text, which is no lease and is replaced by the next one. It is not removed, because it may as
   * well be the file of another process.
   */
  private createUnlessThere(path: string, content: LeaseContent): WrittenLease | undefined {
    const text = this.textOf(content)
    try {
      return { text, stamp: this.files.create(path, text) }
    } catch (error) {
      if (hasCode(error, "EEXIST")) return undefined
      throw error
    }
  }

  /** Creates the file that becomes a lease by a link. Never overwrites one, which may be a lease. */
  private createDraft(draft: string, content: LeaseContent): WrittenLease {
    const text = this.textOf(content)
    try {
      return { text, stamp: this.files.create(draft, text) }
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error
      this.removeIfThere(draft)
      return { text, stamp: this.files.create(draft, text) }
    }
  }

  private discardDraft(draft: string): void {
    try {
      this.removeIfThere(draft)
    } catch {
      // The next lease of this process removes it, or another process after the end of this one.
    }
  }

  /** Path of the file that a process writes before it links a lease to it. */
  private draftOf(owner: string): string {
    return `${this.folder}/owners/${owner}.new`
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
      this.removeIfThere(this.draftOf(owner))
      this.removeIfThere(path)
      return false
    } finally {
      lock.close()
    }
  }
}

const faultOf = (path: string, code: string): FileFault =>
  new FileFault({ operation: "lease", path, code })

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof FileFault && error.code === code

/** Returns undefined when the file does not exist; any other error is thrown. */
const unlessAbsent = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch (error) {
    if (error instanceof FileFault && isAbsent(error)) return undefined
    throw error
  }
}
