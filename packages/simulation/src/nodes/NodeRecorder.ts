/** The recorder of a run of several nodes: its times are those of the database, whatever clock the node has that records. */
import * as Effect from "effect/Effect"
import { type Happening, Recorder } from "../trace/Recorder.ts"
import type { Ground } from "./Machine.ts"

/** A recorder with the clock of the simulation. */
export class NodeRecorder extends Recorder {
  private readonly ground: Ground

  constructor(ground: Ground) {
    super()
    this.ground = ground
  }

  override record(happening: Happening): Effect.Effect<void> {
    return Effect.sync(() => this.now(happening))
  }

  /** Appends one entry with the current time. */
  now(happening: Happening): void {
    this.push(this.ground.clock.currentTimeMillisUnsafe(), happening)
  }
}
