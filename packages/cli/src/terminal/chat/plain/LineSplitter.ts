/** Splits bytes into lines, of which an unfinished one is kept up to a limit. Without input and output of its own. */

/** See the header. */
export class LineSplitter {
  private readonly decoder = new TextDecoder()
  private readonly maxLength: number
  /** The pieces of the unfinished line, and their length; undefined once that is above the limit. */
  private pieces: Array<string> | undefined = []
  private length = 0

  /** @param maxLength of a line, in UTF-16 code units */
  constructor(maxLength: number) {
    this.maxLength = maxLength
  }

  /** The lines that end in these bytes; undefined in place of one that is longer than the limit. */
  push(bytes: Uint8Array): ReadonlyArray<string | undefined> {
    return this.split(this.decoder.decode(bytes, { stream: true }))
  }

  /** The last line, if it has no end. */
  end(): ReadonlyArray<string | undefined> {
    const lines = this.split(this.decoder.decode())
    return this.length === 0 ? lines : [...lines, this.finish()]
  }

  private split(text: string): ReadonlyArray<string | undefined> {
    const [first = "", ...rest] = text.split("\n")
    this.add(first)
    return rest.map((piece) => {
      const line = this.finish()
      this.add(piece)
      return line
    })
  }

  private add(piece: string): void {
    this.length += piece.length
    if (this.length > this.maxLength) this.pieces = undefined
    else this.pieces?.push(piece)
  }

  private finish(): string | undefined {
    const line = this.pieces?.join("")
    this.pieces = []
    this.length = 0
    return line?.endsWith("\r") === true ? line.slice(0, -1) : line
  }
}
