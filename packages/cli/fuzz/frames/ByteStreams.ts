/** The standard streams of a process in memory: a test writes the input and reads the output directly. */
import * as Effect from "effect/Effect"
import { Readable, Writable } from "node:stream"

/** A standard input that respects a reader's pause. */
export class ByteSource extends Readable {
  override _read(): void {
    // `feed` emits the data.
  }

  /** Emits a chunk as soon as the reader is not paused; resolves when it is emitted. */
  feed(chunk: Uint8Array): Effect.Effect<void> {
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      this.isPaused() ? Effect.andThen(Effect.sleep(1), wait) : Effect.void,
    )
    return Effect.map(wait, () => {
      this.emit("data", Buffer.from(chunk))
    })
  }

  /** Ends the input. */
  readonly close: Effect.Effect<void> = Effect.sync(() => {
    this.emit("end")
  })
}

/** A standard output that collects everything written and never blocks. */
export class ByteSink extends Writable {
  private parts = ""

  override write(chunk: unknown, second?: unknown, third?: unknown): boolean {
    this.parts += String(chunk)
    const done = typeof second === "function" ? second : third
    if (typeof done === "function") done()
    return true
  }

  /** Returns and clears everything written since the last call. */
  take(): string {
    const { parts } = this
    this.parts = ""
    return parts
  }
}
