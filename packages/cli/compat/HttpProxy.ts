/** A proxy between a client and the server: it records the requests, and drops the streams of the server when told to. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request of the client, and the status of its response once it has one. */
interface Passed {
  readonly method: string
  readonly path: string
  readonly lastEventId: string | undefined
  readonly body: string
  status: number | undefined
}

export interface HttpProxy {
  /** Address of the proxy, without a path. */
  readonly url: string
  /** All requests so far, in order. */
  readonly requests: ReadonlyArray<Passed>
  /** Breaks the connections of all responses that are open streams; returns their number. */
  readonly drop: () => number
}

const bodyOf = async (incoming: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of incoming) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

class Passing {
  readonly requests: Array<Passed> = []
  private readonly streams = new Set<ServerResponse>()
  private readonly target: URL

  constructor(target: string) {
    this.target = new URL(target)
  }

  readonly drop = (): number => {
    const streams = [...this.streams]
    for (const stream of streams) stream.destroy()
    return streams.length
  }

  readonly pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { headers, method = "", url: path = "" } = incoming
    const body = await bodyOf(incoming)
    const last = headers["last-event-id"]
    const passed: Passed = {
      method,
      path,
      lastEventId: Array.isArray(last) ? last[0] : last,
      body: body.toString("utf8"),
      status: undefined,
    }
    this.requests.push(passed)
    const { hostname: host, port } = this.target
    const onward = request({ host, port, method, path, headers, agent: false }, (response) => {
      passed.status = response.statusCode
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      outgoing.flushHeaders()
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        this.streams.add(outgoing)
      }
      response.pipe(outgoing)
      response.on("error", () => outgoing.destroy())
    })
    onward.on("error", () => outgoing.destroy())
    outgoing.on("close", () => {
      this.streams.delete(outgoing)
      onward.destroy()
    })
    onward.end(body)
  }
}

/** Starts a proxy for this server; it ends with the scope. */
export const proxyTo = (target: string): Effect.Effect<HttpProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly proxy: HttpProxy; readonly end: () => Promise<void> }>((resolve) => {
          const passing = new Passing(target)
          const server = createServer((incoming, outgoing) => {
            // A client that is gone before its request was read needs no response.
            passing.pass(incoming, outgoing).catch(() => outgoing.destroy())
          })
          const end = () =>
            new Promise<void>((ended) => {
              server.close(() => ended())
              server.closeAllConnections()
            })
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            const { drop, requests } = passing
            resolve({ proxy: { url: `http://127.0.0.1:${port}`, requests, drop }, end })
          })
        }),
    ),
    ({ end }) => Effect.promise(end),
  ).pipe(Effect.map(({ proxy }) => proxy))
