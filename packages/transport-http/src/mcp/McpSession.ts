/**
 * A session of the handshake revisions: one connection whose frames come from POSTs. Messages go to the stream of the POST
 * that they relate to, and else to the stream of the GET. Knows no method, except which id a cancellation names.
 *
 *   POST ── deliver ──▶ frames ──▶ the Peer ── send ──┬─▶ log of the POST's stream
 *                                                     └─▶ log of the GET's stream
 */
import {
  type Connection,
  ConnectionClosed,
  type ConnectionPeer,
  type Frame,
  type SendOptions,
} from "@colloquy/protocol/Connection"
import { type RequestId, requestIdKey } from "@colloquy/protocol/JsonRpc"
import { LazyLatch } from "@colloquy/server/jsonrpc/LazyLatch"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { drainReason } from "../guard/Draining.ts"
import { EventLog, type EventLogOptions } from "./EventLog.ts"

/** A response begins with its id and its result or error: so the protocol's functions write it. */
const responseStart = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|[^",]*),"(?:result|error)":/

/** True for the text of a response or of an array of responses. */
export const isResponseText = (text: string): boolean =>
  text.startsWith("[") || responseStart.test(text)

/** One POST with requests: its stream, and the requests without a response. */
export interface Exchange {
  /** Number of the stream in its session. */
  readonly stream: number
  readonly log: EventLog
}

interface OpenExchange extends Exchange {
  readonly waiting: Set<string | number>
  /** The text of the id of the client where the Peer knows the request by another one. */
  readonly idText?: string
}

/** Bounds of the streams that have ended and are kept for a client that continues them: their number, and characters. */
const maxEndedStreams = 64
const maxEndedChars = 1024 * 1024

/** Number of the stream that GET reads. */
export const getStream = 0

const closed = new ConnectionClosed({ reason: "the session has ended" })

/** A session: the connection that is served, and what the routes do with it. */
export class McpSession implements Connection {
  readonly id: string
  readonly peer: ConnectionPeer
  /** The revision that `initialize` chose; undefined before its response. */
  revision: string | undefined
  /** Milliseconds of the clock at the end of the last request. */
  usedAt: number
  private readonly frames: Queue.Queue<Frame, Cause.Done>
  private readonly gone = new LazyLatch(false)
  private readonly options: EventLogOptions
  private readonly logs = new Map<number, EventLog>()
  private readonly exchanges = new Map<string | number, OpenExchange>()
  private streams = getStream
  private aliases = 0
  private open = true
  private endReason = "the session has ended"

  constructor(
    id: string,
    peer: ConnectionPeer,
    usedAt: number,
    frames: Queue.Queue<Frame, Cause.Done>,
    options: EventLogOptions,
  ) {
    this.id = id
    this.peer = peer
    this.usedAt = usedAt
    this.frames = frames
    this.options = options
  }

  /** A member of the object itself: wrappers of a connection copy those. */
  readonly receive: Connection["receive"] = Effect.suspend(() => Queue.takeAll(this.frames))

  readonly broken: Effect.Effect<void> = Effect.suspend(() => this.gone.await)

  readonly flush = Effect.void

  /** True while requests are served or a stream is read: such a session does not expire. */
  get isBusy(): boolean {
    if (this.exchanges.size > 0) return true
    for (const log of this.logs.values()) if (log.isRead) return true
    return false
  }

  readonly send: Connection["send"] = (texts, options) =>
    Effect.suspend(() => {
      if (!this.open) return Effect.fail(closed)
      const logs = this.append(texts, options)
      return logs.some(({ isFull }) => isFull)
        ? Effect.forEach(logs, ({ hasRoom }) => hasRoom, { discard: true })
        : Effect.void
    })

  readonly sendNow = (texts: ReadonlyArray<string>, options?: SendOptions): boolean => {
    if (!this.open || this.logOf(options).isFull) return false
    this.append(texts, options)
    return true
  }

  /** Hands a text to the Peer. Waits while it has not taken those before. */
  readonly deliver = (text: string): Effect.Effect<void> =>
    Effect.asVoid(Queue.offer(this.frames, { _tag: "Text", text }))

  /** True if a request with this id has no response yet. */
  isInFlight(id: RequestId): boolean {
    return this.exchanges.has(requestIdKey(id))
  }

  /**
   * Opens the stream of a POST with these requests.
   *
   * @param idText JSON text of the client's id of the only request, where `ids` has another one for it
   */
  begin(ids: ReadonlyArray<RequestId>, idText?: string): Exchange {
    const waiting = new Set(ids.map(requestIdKey))
    const stream = ++this.streams
    const log = new EventLog(this.options)
    const rest = idText === undefined ? {} : { idText }
    const exchange: OpenExchange = { stream, log, waiting, ...rest }
    this.logs.set(stream, log)
    for (const key of waiting) this.exchanges.set(key, exchange)
    return exchange
  }

  /** An id that no request in flight has: a client may use the same one twice at once. */
  freshId(): string {
    return `${this.id}:${++this.aliases}`
  }

  /** The client has cancelled the request, which gets no response: its stream ends. */
  cancelled(id: RequestId): void {
    const key = requestIdKey(id)
    const exchange = this.exchanges.get(key)
    if (exchange === undefined) return
    this.settle(exchange, [key])
    if (exchange.waiting.size === 0) exchange.log.end()
  }

  /** The responses of a POST were sent without a stream: there is nothing that a client could continue. */
  forget({ stream }: Exchange): void {
    this.logs.delete(stream)
  }

  /** The log of a stream; undefined if the session has none with this number. */
  log(stream: number): EventLog | undefined {
    return stream === getStream ? this.getLog : this.logs.get(stream)
  }

  /** Ends the input: the requests in flight get their responses, and then the session ends. */
  readonly finish: Effect.Effect<void> = Effect.suspend(() => {
    this.endReason = drainReason
    return Effect.asVoid(Queue.end(this.frames))
  })

  /** Ends the session: its input, its streams and the requests in flight. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.open = false
    this.gone.openUnsafe()
    for (const log of this.logs.values()) log.end(this.endReason)
    return Effect.asVoid(Queue.end(this.frames))
  })

  private logOf(options: SendOptions | undefined): EventLog {
    return this.exchangeOf(options)?.log ?? this.getLog
  }

  /** Created when it is first read or written: many sessions have only responses. */
  private get getLog(): EventLog {
    const known = this.logs.get(getStream)
    if (known !== undefined) return known
    const log = new EventLog(this.options)
    if (!this.open) log.end(this.endReason)
    this.logs.set(getStream, log)
    return log
  }

  private exchangeOf(options: SendOptions | undefined): OpenExchange | undefined {
    const id = options?.relatedTo
    return id === undefined ? undefined : this.exchanges.get(requestIdKey(id))
  }

  private append(
    texts: ReadonlyArray<string>,
    options: SendOptions | undefined,
  ): ReadonlyArray<EventLog> {
    const logs = new Set<EventLog>()
    for (const text of texts) {
      const exchange = this.exchangeOf(options)
      const isResponse = isResponseText(text)
      // Responses belong to no other stream than that of their request: one to a cancelled request goes nowhere.
      if (isResponse && exchange === undefined) continue
      const log = exchange?.log ?? this.logOf(undefined)
      logs.add(log)
      if (!isResponse || exchange === undefined || options?.relatedTo === undefined) {
        log.push(text)
        continue
      }
      const key = requestIdKey(options.relatedTo)
      this.settle(exchange, text.startsWith("[") ? [...exchange.waiting] : [key])
      log.push(this.withClientId(text, exchange), exchange.waiting.size === 0)
      this.forgetOldStreams()
    }
    return [...logs]
  }

  private withClientId(text: string, exchange: OpenExchange): string {
    const { idText } = exchange
    if (idText === undefined) return text
    const at = text.indexOf('"id":') + '"id":'.length
    const own = responseStart.exec(text)?.[1] ?? ""
    return text.slice(0, at) + idText + text.slice(at + own.length)
  }

  private settle(exchange: OpenExchange, keys: ReadonlyArray<string | number>): void {
    for (const key of keys) {
      exchange.waiting.delete(key)
      this.exchanges.delete(key)
    }
  }

  private forgetOldStreams(): void {
    const old = [...this.logs].filter(([, log]) => log.isEnded && !log.isRead)
    let chars = 0
    // The newest ones stay, and the very newest always: its response may not have been read.
    for (const [index, [stream, log]] of old.toReversed().entries()) {
      chars += log.size
      if (index > 0 && (index >= maxEndedStreams || chars > maxEndedChars)) {
        this.logs.delete(stream)
      }
    }
  }
}
