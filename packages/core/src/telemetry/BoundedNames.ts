/**
 * Names that clients choose, as labels of metrics. A registry keeps each combination of labels for ever, so a client that
 * names another model with every call would fill the memory.
 */

/** Distinct names that are kept: more models than a process serves. */
const maxNames = 64

/** The first names that were given; all later ones are `other`. */
export class BoundedNames {
  private readonly names = new Set<string>()

  /** The name itself, or `other` once too many are known. */
  of(name: string): string {
    if (this.names.has(name)) return name
    if (this.names.size >= maxNames || name.length > 256) return "other"
    this.names.add(name)
    return name
  }
}
