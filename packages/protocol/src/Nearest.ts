/** The known name nearest to a misspelt one, for error messages. */

const normal = (name: string) => name.toLowerCase().replaceAll(/[_\s-]/g, "")

/** Edit distance (Levenshtein) with one row; the names are short. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The nearest known name; undefined when more than a third of its letters, and more than two, would have to change. */
export const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  // A client may send a long name; none of that length is near a known one.
  if (name.length > 64) return undefined
  const wanted = normal(name)
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const letters = normal(candidate)
    const most = Math.min(least - 1, Math.max(2, candidate.length / 3))
    // The difference of the lengths is the least distance; it excludes most names at no cost.
    if (Math.abs(letters.length - wanted.length) > most) continue
    const d = distance(wanted, letters)
    if (d <= most) {
      best = candidate
      least = d
    }
  }
  return best
}
