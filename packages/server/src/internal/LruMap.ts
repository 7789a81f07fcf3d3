/**
 * A map with a largest number of entries: a new entry removes the one that was put least recently. Reading an entry
 * does not renew it. Holds data of calls that may never be read again.
 */
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

  /** Removes the entry and returns its value. */
  take(key: K): V | undefined {
    const value = this.entries.get(key)
    this.entries.delete(key)
    return value
  }
}
