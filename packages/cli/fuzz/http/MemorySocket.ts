/** The server's end of a TCP connection in memory: a test writes what the client sends and reads what the server has written. */
import { Duplex } from "node:stream"

/** A socket whose other end is the test. */
export class MemorySocket extends Duplex {
  /** Bytes that the client has sent: the server pings a client from which nothing comes. */
  bytesRead = 0
  private readonly written: Array<Uint8Array> = []

  constructor() {
    super({ allowHalfOpen: false })
    // A socket emits its faults; the program that owns it is tested here, and a fault without a listener would end the process.
    this.on("error", () => {})
  }

  override _read(): void {
    // `receive` emits the data.
  }

  override _write(chunk: Uint8Array, _: string, done: () => void): void {
    this.written.push(Uint8Array.from(chunk))
    done()
  }

  /** The client sends bytes. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed || this.readableEnded) return
    this.bytesRead += bytes.length
    this.push(Buffer.from(bytes))
  }

  /** The client sends nothing more. */
  finish(): void {
    if (!this.destroyed) this.push(null)
  }

  /** Everything that the server has written since the last call. */
  takeWritten(): Uint8Array {
    return Buffer.concat(this.written.splice(0))
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }
}
