/** The two ends of a process's standard streams, without a process: bytes are put in and taken out by hand. */
import * as Effect from "effect/Effect"
import { Readable, Writable } from "node:stream"

/** A standard input. Honours a reader that pauses it. */
export class ByteSource extends Readable {
  override _read(): void {
    // What there is to read is emitted as it is fed.
  }

  /** Gives a chunk to the reader, as soon as the reader takes any. */
  feed(chunk: Uint8Array): Effect.Effect<void> {
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      this.isPaused() ? Effect.andThen(Effect.sleep(1), wait) : Effect.void,
    )
    return Effect.map(wait, () => {
      this.emit("data", Buffer.from(chunk))
    })
  }

  /** The end of the input. */
  readonly close: Effect.Effect<void> = Effect.sync(() => {
    this.emit("end")
  })
}

/** A standard output that keeps what is written, at once. */
export class ByteSink extends Writable {
  private parts = ""

  override write(chunk: unknown, second?: unknown, third?: unknown): boolean {
    this.parts += String(chunk)
    const done = typeof second === "function" ? second : third
    if (typeof done === "function") done()
    return true
  }

  /** Everything written since the last call. */
  take(): string {
    const { parts } = this
    this.parts = ""
    return parts
  }
}
