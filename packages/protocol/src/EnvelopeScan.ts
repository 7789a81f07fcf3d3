/**
 * Reads the top-level `id` of a JSON-RPC message, and whether it is a call or a response, from bytes that are not kept: this
 * makes it possible to respond to a message that is too large to parse.
 *
 * The scan is streaming: it holds a few small strings, whatever the size and the nesting of the message are. It never throws
 * (L13) and does not check that the bytes are valid JSON: the result for invalid JSON is unspecified.
 */

/** What is known about a message that was not parsed. */
export interface Envelope {
  /**
   * A call has a `method`, and a notification is a call that was read to its end and has no member `id`; a response has a
   * `result` or an `error` and no `method`.
   */
  readonly kind: "call" | "notification" | "response" | "unknown"
  /** The JSON text of the top-level `id`; absent when there is none, or when it is no string and no number. */
  readonly idToken?: string
}

/** The scan of one message. */
export interface EnvelopeScan {
  /** Reads the next bytes of the message. Keeps no reference to them. */
  readonly push: (bytes: Uint8Array) => void
  /** The result; `undefined` when the message is no object or has none of the members of an envelope. */
  readonly end: () => Envelope | undefined
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** The longest member name looked for is `method`: 6 characters, each at most 6 bytes (`\u006d`), and two quotes. */
const maxNameBytes = 38
/** An id has at most 131,072 UTF-16 units, each written with at most 6 bytes, and two quotes. */
const maxIdBytes = 6 * 128 * 1024 + 2

/** U+FEFF in UTF-8: a line may begin with it. */
const byteOrderMark = new Set([0xef, 0xbb, 0xbf])

const isBlank = (byte: number): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d

/** True when an odd number of backslashes ends at `end`, so that the byte there is escaped. */
const isEscaped = (bytes: Uint8Array, start: number, end: number): boolean => {
  let at = end
  while (at > start && bytes[at - 1] === backslash) at--
  return (end - at) % 2 === 1
}

/** A growing token of bytes that is dropped beyond a limit. */
class Token {
  private parts: Array<Uint8Array> = []
  private bytes = 0
  private readonly maxBytes: number
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }
  add(part: Uint8Array): void {
    this.bytes += part.length
    // A copy: a part of the caller's chunk would keep the whole chunk in memory.
    if (this.bytes <= this.maxBytes) this.parts.push(part.slice())
    else this.parts = []
  }
  text(): string | undefined {
    if (this.bytes > this.maxBytes || this.bytes === 0) return undefined
    const whole = new Uint8Array(this.bytes)
    let at = 0
    for (const part of this.parts) {
      whole.set(part, at)
      at += part.length
    }
    return new TextDecoder().decode(whole)
  }
}

const nameOf = (token: string | undefined): unknown => {
  if (token === undefined) return undefined
  try {
    return JSON.parse(token)
  } catch {
    return undefined
  }
}

class Scan implements EnvelopeScan {
  private depth = 0
  /** True: the root is no object, or it has ended. */
  private done = false
  /** True: the root is an object that has ended, and nothing follows it. */
  private isWhole = false
  private inString = false
  private escaped = false
  private expects: "name" | "value" = "name"
  private name: unknown
  /** The name, or the id, that is being read. */
  private token: Token | undefined
  private idToken: string | undefined
  private readonly members = new Set<unknown>()

  push(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length && !this.done) {
      at = this.inString ? this.string(bytes, at) : this.structure(bytes, at)
    }
    // Text with more than one value is not a message.
    this.isWhole &&= bytes.subarray(at).every(isBlank)
  }

  end(): Envelope | undefined {
    const { idToken, members } = this
    const isCall = members.has("method")
    const isResponse = members.has("result") || members.has("error")
    const hasId = members.has("id")
    if (!isCall && !isResponse && !hasId) return undefined
    const call = this.isWhole && !hasId ? "notification" : "call"
    const kind = isCall ? call : isResponse ? "response" : "unknown"
    return { kind, ...(idToken === undefined ? {} : { idToken }) }
  }

  /** Reads up to the end of a string, or of the bytes. */
  private string(bytes: Uint8Array, from: number): number {
    let start = from
    if (this.escaped) {
      this.escaped = false
      start = from + 1
    }
    for (let close = start; ; close++) {
      close = bytes.indexOf(quote, close)
      if (close === -1) {
        this.escaped = isEscaped(bytes, start, bytes.length)
        this.token?.add(bytes.subarray(from))
        return bytes.length
      }
      if (isEscaped(bytes, start, close)) continue
      this.inString = false
      this.token?.add(bytes.subarray(from, close + 1))
      if (this.depth === 1 && this.expects === "name") this.endName()
      return close + 1
    }
  }

  /** Reads one byte outside of strings. */
  private structure(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0
    const outer = this.depth === 1
    if (isBlank(byte)) return at + 1
    if (this.depth === 0 && byte !== openBrace) this.done = !byteOrderMark.has(byte)
    else if (byte === openBrace || byte === openBracket) {
      this.depth++
      this.token = undefined
    } else if (byte === closeBrace || byte === closeBracket) this.close()
    else if (byte === quote) this.open(bytes.subarray(at, at + 1))
    else if (outer && byte === comma) this.endMember()
    else if (outer && byte === colon) this.startValue()
    else if (outer) this.token?.add(bytes.subarray(at, at + 1))
    return at + 1
  }

  private open(first: Uint8Array): void {
    this.inString = true
    if (this.depth !== 1) return
    if (this.expects === "name") this.token = new Token(maxNameBytes)
    this.token?.add(first)
  }

  private endName(): void {
    this.name = nameOf(this.token?.text())
    this.token = undefined
  }

  private startValue(): void {
    this.expects = "value"
    this.members.add(this.name)
    if (this.name !== "id") return
    // As everywhere in JSON, the last of several members of one name counts.
    this.idToken = undefined
    this.token = new Token(maxIdBytes)
  }

  private endMember(): void {
    if (this.expects === "value" && this.name === "id") this.idToken = this.token?.text()
    this.expects = "name"
    this.name = undefined
    this.token = undefined
  }

  private close(): void {
    if (this.depth === 1) {
      this.endMember()
      this.done = true
      this.isWhole = true
    }
    this.depth--
  }
}

/** Starts a scan. */
export const make = (): EnvelopeScan => new Scan()

/** The envelope of a whole message. */
export const scan = (text: string): Envelope | undefined => {
  const one = make()
  one.push(new TextEncoder().encode(text))
  return one.end()
}
