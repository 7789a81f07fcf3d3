/**
 * Known places in one rollout file, kept between pages so that a page need not be read from the
 * beginning of the file. Bounded in number. They stay valid while the file grows.
 */
import type { LineDecoderState } from "./LineDecoder.ts"

/** Waypoints kept per file. */
const maxWaypoints = 256

/** A place between two lines, and the decoder's state there. */
export interface Waypoint extends LineDecoderState {
  readonly offset: number
}

/**
 * Known places in a file with the decoder's state, kept between pages. They stay valid while the
 * file grows.
 */
export class Waypoints {
  private readonly known: Array<Waypoint> = []

  /** The last waypoint at or before an offset. */
  before(offset: number): Waypoint | undefined {
    return this.known.findLast((waypoint) => waypoint.offset <= offset)
  }

  /** Adds a waypoint. */
  add(waypoint: Waypoint): void {
    const at = this.known.findLastIndex(({ offset }) => offset <= waypoint.offset)
    if (this.known[at]?.offset === waypoint.offset) return
    this.known.splice(at + 1, 0, waypoint)
    // Half of them, evenly spread, are enough to find a place.
    if (this.known.length > maxWaypoints) {
      const kept = this.known.filter((_, i) => i % 2 === 0)
      this.known.splice(0, this.known.length, ...kept)
    }
  }
}
