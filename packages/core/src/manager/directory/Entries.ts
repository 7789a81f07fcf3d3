/** The entries of one manager by id, and how many each owner has. */
import type { Entry } from "../Entry.ts"

/** A map of entries that counts them by owner. An archived conversation is kept and not counted. */
export class Entries extends Map<string, Entry> {
  private readonly counts = new Map<string, number>()
  private readonly archived = new Set<Entry>()

  override set(id: string, entry: Entry): this {
    if (!this.has(id)) this.count(entry, 1)
    return super.set(id, entry)
  }

  override delete(id: string): boolean {
    const entry = this.get(id)
    if (entry !== undefined && !this.archived.delete(entry)) this.count(entry, -1)
    return super.delete(id)
  }

  /** Number of the conversations of the owner that are not archived. */
  countOf(owner: string): number {
    return this.counts.get(owner) ?? 0
  }

  /** The conversation is archived now, or it is not any more. Does nothing for an unknown one. */
  setArchived(id: string, isArchived: boolean): void {
    const entry = this.get(id)
    if (entry === undefined || this.archived.has(entry) === isArchived) return
    this.count(entry, isArchived ? -1 : 1)
    if (isArchived) this.archived.add(entry)
    else this.archived.delete(entry)
  }

  private count({ owner }: Entry, change: 1 | -1): void {
    if (owner === undefined) return
    const count = this.countOf(owner) + change
    if (count === 0) this.counts.delete(owner)
    else this.counts.set(owner, count)
  }
}
