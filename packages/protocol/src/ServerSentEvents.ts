/**
 * Parses the `data` of server-sent events (WHATWG HTML, section 9.2) from chunks of bytes of any size. Holds at most one line
 * and the data of one event, each in one buffer, so that memory is bounded whatever the chunks are (L13). Invalid UTF-8 is
 * read as U+FFFD.
 */

const lf = 0x0a
const cr = 0x0d
const colon = 0x3a
const space = 0x20

const none = new Uint8Array(0)

/** A buffer up to this size is reused for the next event. */
const keptBytes = 64 * 1024

/** A growing sequence of bytes. The buffer doubles, so that appending has constant cost per byte. */
class Buffered {
  private buffer = none
  length = 0

  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length
    if (needed > this.buffer.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.buffer.length, 256))
      grown.set(this.bytes)
      this.buffer = grown
    }
    this.buffer.set(bytes, this.length)
    this.length = needed
  }

  clear(): void {
    if (this.buffer.length > keptBytes) this.buffer = none
    this.length = 0
  }
}

const newline = Uint8Array.of(lf)

const startsWith = (bytes: Uint8Array, prefix: ReadonlyArray<number>): boolean =>
  prefix.every((byte, i) => bytes[i] === byte)

const byteOrderMark = [0xef, 0xbb, 0xbf]
const dataField = [0x64, 0x61, 0x74, 0x61]

/** The value of a `data` line; undefined for any other line. */
const dataOf = (line: Uint8Array): Uint8Array | undefined => {
  if (!startsWith(line, dataField)) return undefined
  if (line.length === dataField.length) return none
  if (line[dataField.length] !== colon) return undefined
  return line.subarray(dataField.length + (line[dataField.length + 1] === space ? 2 : 1))
}

/** A parser for one stream of events. */
export class ServerSentEvents {
  private readonly maxBytes: number
  private readonly onData: (data: string) => void
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  private readonly line = new Buffered()
  private readonly data = new Buffered()
  private hasData = false
  private isFirstLine = true
  /** True: the last byte was a CR, and a LF that follows belongs to it. */
  private isAfterCr = false
  private isOver = false

  /**
   * @param maxBytes limit of a line, and of an event: its current line and its data so far
   * @param onData called for every event that has data, in order
   */
  constructor(maxBytes: number, onData: (data: string) => void) {
    this.maxBytes = maxBytes
    this.onData = onData
  }

  /** False once an event exceeds the limit; everything after it is ignored. */
  feed(chunk: Uint8Array): boolean {
    let from = 0
    let nextLf = chunk.indexOf(lf)
    let nextCr = chunk.indexOf(cr)
    while (!this.isOver && from < chunk.length) {
      if (this.isAfterCr) {
        this.isAfterCr = false
        if (chunk[from] === lf) {
          from++
          continue
        }
      }
      if (nextLf !== -1 && nextLf < from) nextLf = chunk.indexOf(lf, from)
      if (nextCr !== -1 && nextCr < from) nextCr = chunk.indexOf(cr, from)
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf)
      const end = isCr ? nextCr : nextLf
      if (end === -1) {
        this.hold(chunk.subarray(from))
        break
      }
      this.endLine(chunk.subarray(from, end))
      this.isAfterCr = isCr
      from = end + 1
    }
    return !this.isOver
  }

  /** Ends the stream: a last event counts although its blank line is missing. False when an event exceeded the limit. */
  end(): boolean {
    this.isAfterCr = false
    return this.feed(Uint8Array.of(lf, lf))
  }

  private hold(rest: Uint8Array): void {
    if (this.exceeds(this.line.length + rest.length)) return
    this.line.append(rest)
  }

  private endLine(last: Uint8Array): void {
    if (this.exceeds(this.line.length + last.length)) return
    if (this.line.length === 0) return this.read(last)
    this.line.append(last)
    this.read(this.line.bytes)
    this.line.clear()
  }

  private exceeds(lineBytes: number): boolean {
    if (lineBytes + this.data.length > this.maxBytes) this.isOver = true
    return this.isOver
  }

  private read(given: Uint8Array): void {
    const line = this.isFirstLine && startsWith(given, byteOrderMark) ? given.subarray(3) : given
    this.isFirstLine = false
    if (line.length === 0) return this.dispatch()
    const value = dataOf(line)
    if (value === undefined) return
    if (this.hasData) this.data.append(newline)
    this.hasData = true
    this.data.append(value)
  }

  private dispatch(): void {
    if (!this.hasData) return
    const data = this.decoder.decode(this.data.bytes)
    this.data.clear()
    this.hasData = false
    this.onData(data)
  }
}
