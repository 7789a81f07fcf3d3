/** Stands between clients and the socket of a server, and cuts connections at chosen moments. */
import { createConnection, createServer, type Server, type Socket } from "node:net"

/** A proxy on a port of the loopback address. */
export class Proxy {
  private readonly sockets = new Set<Socket>()
  private readonly server: Server
  /** Number of requests until one of which the answer is swallowed; undefined for none. */
  private requests: number | undefined
  /** Number of connections that were cut after the server had their request. */
  cuts = 0

  private constructor(socket: string) {
    this.server = createServer((client) => this.join(client, createConnection(socket)))
  }

  static async start(socket: string): Promise<Proxy> {
    const proxy = new Proxy(socket)
    await new Promise<void>((done) => proxy.server.listen(0, "127.0.0.1", done))
    return proxy
  }

  get port(): number {
    const address = this.server.address()
    if (address === null || typeof address === "string") throw new Error("expected a port")
    return address.port
  }

  address(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** The server gets the request with this number, counted from 1, and its answer is lost with the connection. */
  swallowAnswerTo(request: number): void {
    this.requests = request
  }

  /** Lets everything pass again. */
  pass(): void {
    this.requests = undefined
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise((done) => this.server.close(done))
  }

  private join(client: Socket, upstream: Socket): void {
    let isCut = false
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      this.sockets.add(socket)
      socket.on("error", cut)
      socket.on("close", () => {
        this.sockets.delete(socket)
        cut()
      })
    }
    client.on("data", (bytes) => {
      if (this.requests !== undefined && --this.requests === 0) {
        this.requests = undefined
        isCut = true
      }
      upstream.write(bytes)
    })
    upstream.on("data", (bytes) => {
      if (!isCut) {
        client.write(bytes)
        return
      }
      this.cuts++
      cut()
    })
  }
}
