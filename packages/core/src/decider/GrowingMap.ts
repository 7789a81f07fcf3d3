/**
 * A map from texts that only grows, as an immutable value: a version with one more entry shares most of the others with the
 * version before it, so that neither a turn nor its memory grows with the number of entries. Pure.
 *
 * ```
 *   recent: a list of up to 15      maps: 16   32   128   512 ...   each larger than all newer ones together
 *              └── full ──▶ becomes a map, together with the newer maps that are not larger than it
 * ```
 *
 * An entry is copied once for each doubling of the map, and a search asks as many maps. They are those of the language, whose
 * hashes cannot be predicted: a client cannot choose texts that are slow to find.
 */

/** A version of the map. No value is `undefined`. */
export interface GrowingMap<V> {
  /** The newest entries, oldest first. */
  readonly recent: ReadonlyArray<readonly [key: string, value: V]>
  /** All other entries, oldest first. The newest entry of a key counts. */
  readonly maps: ReadonlyArray<ReadonlyMap<string, V>>
}

const maxRecent = 16

/** A map without entries. */
export const empty: GrowingMap<never> = { recent: [], maps: [] }

/** The value of the key; undefined for a key without an entry. */
export const get = <V>({ maps, recent }: GrowingMap<V>, key: string): V | undefined => {
  for (let i = recent.length - 1; i >= 0; i--) {
    const entry = recent[i]
    if (entry?.[0] === key) return entry[1]
  }
  for (let i = maps.length - 1; i >= 0; i--) {
    const value = maps[i]?.get(key)
    if (value !== undefined) return value
  }
  return undefined
}

/** The map with one more entry, which replaces that of the same key. */
export const set = <V>(map: GrowingMap<V>, key: string, value: V): GrowingMap<V> => {
  const { maps } = map
  const recent = [...map.recent, [key, value] as const]
  if (recent.length < maxRecent) return { recent, maps }
  let size = recent.length
  let first = maps.length
  for (; first > 0; first--) {
    const larger = maps[first - 1]?.size ?? 0
    if (larger > size) break
    size += larger
  }
  const merged = new Map(maps[first])
  for (const newer of maps.slice(first + 1)) for (const [k, v] of newer) merged.set(k, v)
  for (const [k, v] of recent) merged.set(k, v)
  return { recent: [], maps: [...maps.slice(0, first), merged] }
}
