/** A set that counts the additions of each member: a member is removed when all its additions have been undone. */
export class CountedSet {
  private readonly counts = new Map<string, number>()

  /** Adds the member once more. The returned function undoes this addition; calling it again does nothing. */
  add(member: string): () => void {
    this.counts.set(member, (this.counts.get(member) ?? 0) + 1)
    let undone = false
    return () => {
      if (undone) return
      undone = true
      const left = (this.counts.get(member) ?? 1) - 1
      if (left > 0) this.counts.set(member, left)
      else this.counts.delete(member)
    }
  }

  /** True while at least one addition of the member has not been undone. */
  has(member: string): boolean {
    return this.counts.has(member)
  }
}
