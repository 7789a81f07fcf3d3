/**
 * Listeners of the soak: one reads server-sent events, one a WebSocket. Each connects again after the last number that it has
 * seen, and checks that every durable event comes once and in order (L4). One that never reads only holds its connection.
 */
import {
  ConversationLagged,
  ConversationSkipped,
  ConversationSynced,
} from "@colloquy/protocol/app/Events"
import { AddConversationListener } from "@colloquy/protocol/app/Messages"
import { Initialize, Initialized } from "@colloquy/protocol/app/Session"
import { isEphemeral, type EventMsg } from "@colloquy/protocol/EventMsg"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { get } from "node:http"

/** Where a listener connects, which changes when a server is killed. */
interface Place {
  readonly url: () => string
  readonly token: string
  readonly conversationId: string
}

const reconnectAfterMs = 100

/** What all listeners have in common: the numbers, and the connection that is made again. */
abstract class SoakListener {
  /** Number of the next durable event. */
  next = 0
  connections = 0
  lagged = 0
  readonly faults: Array<string> = []
  protected isOver = false
  protected readonly place: Place
  protected readonly isReading: boolean

  constructor(place: Place, isReading: boolean) {
    this.place = place
    this.isReading = isReading
  }

  get reads(): boolean {
    return this.isReading
  }

  protected readonly again = (): void => {
    if (this.isOver) return
    setTimeout(() => {
      if (!this.isOver) this.connect()
    }, reconnectAfterMs)
  }

  protected take(seq: number): void {
    if (seq === this.next) this.next++
    else this.faults.push(`event ${seq} where ${this.next} comes next`)
  }

  /** Connects, and connects again until `end`. */
  abstract connect(): void

  /** Ends the connection. */
  abstract end(): void
}

/** A listener of `/v1/conversations/{id}/events`. */
export class SseListener extends SoakListener {
  /** Data of each durable event, by its number. */
  readonly data: Array<string> = []
  private destroy: (() => void) | undefined

  connect(): void {
    const { conversationId, token, url } = this.place
    const path = `/v1/conversations/${conversationId}/events?after=${this.next - 1}`
    this.connections++
    const headers = { authorization: `Bearer ${token}` }
    const request = get(`${url()}${path}`, { headers, agent: false }, (response) => {
      response.on("close", this.again)
      response.on("error", () => {})
      if (response.statusCode !== 200) {
        response.resume()
        return
      }
      if (!this.isReading) return
      let rest = ""
      response.setEncoding("utf8").on("data", (text: string) => {
        const blocks = (rest + text).split("\n\n")
        rest = blocks.pop() ?? ""
        for (const block of blocks) this.read(block)
      })
    })
    request.on("error", this.again)
    this.destroy = () => request.destroy()
  }

  end(): void {
    this.isOver = true
    this.destroy?.()
  }

  private read(block: string): void {
    if (block.startsWith("event: lagged")) this.lagged++
    const id = /^id: (\d+)$/m.exec(block)?.[1]
    if (id === undefined) return
    this.take(Number(id))
    this.data[Number(id)] = /^data: (.*)$/m.exec(block)?.[1] ?? ""
  }
}

interface Notification {
  readonly id?: number
  readonly error?: unknown
  readonly method?: string
  readonly params?: { readonly seq?: number; readonly msg?: EventMsg }
}

/** A listener of the app-server at `/ws`. */
export class WebSocketListener extends SoakListener {
  private socket: WebSocket | undefined

  connect(): void {
    const { conversationId, token, url } = this.place
    const address = `${url().replace("http:", "ws:")}/ws`
    this.connections++
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } })
    this.socket = socket
    const send = (message: object) => socket.send(JSON.stringify(message))
    socket.on("error", () => {})
    socket.once("close", this.again)
    socket.once("open", () => {
      send({
        id: 1,
        method: Initialize._tag,
        params: { clientInfo: { name: "soak", version: "1" } },
      })
      send({ method: Initialized._tag })
      const params = { conversationId, after: this.next - 1 }
      send({ id: 2, method: AddConversationListener._tag, params })
    })
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") return
      const message = JSON.parse(data) as Notification
      if (message.error !== undefined) return socket.terminate()
      if (message.id === 2 && !this.isReading) return socket.pause()
      this.read(message)
    })
  }

  end(): void {
    this.isOver = true
    this.socket?.terminate()
  }

  private read({ method, params }: Notification): void {
    if (method === ConversationLagged._tag) this.lagged++
    const { msg, seq } = params ?? {}
    if (
      seq === undefined ||
      method === ConversationSynced._tag ||
      method === ConversationLagged._tag
    )
      return
    if (msg === undefined ? method === ConversationSkipped._tag : !isEphemeral(msg)) this.take(seq)
  }
}
