/** A map that keeps what was put last, so many entries at most: memory of calls that may never be asked for. */
export class LruMap<K, V> {
  private readonly entries = new Map<K, V>()
  private readonly max: number

  constructor(max: number) {
    this.max = max
  }

  put(key: K, value: V): void {
    this.entries.delete(key)
    this.entries.set(key, value)
    if (this.entries.size <= this.max) return
    const [oldest] = this.entries.keys()
    if (oldest !== undefined) this.entries.delete(oldest)
  }

  get(key: K): V | undefined {
    return this.entries.get(key)
  }

  /** Removes the entry and gives its value. */
  take(key: K): V | undefined {
    const value = this.entries.get(key)
    this.entries.delete(key)
    return value
  }
}
