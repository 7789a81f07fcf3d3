/**
 * A client of HTTP on one socket that stays open: requests are bytes that were made before, and of a response only its end
 * is searched. The client shares the cores with the server, so its own work must be small.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"

/** A response and when it came, in milliseconds after the request was written. */
export interface Response {
  readonly text: string
  readonly ms: number
  /** When the first event of a stream had come; undefined for a response without events. */
  readonly firstEventMs: number | undefined
}

/** One connection. */
export interface RawHttp {
  /** Sends a request and resolves with its response. One at a time. */
  readonly send: (request: Buffer) => Effect.Effect<Response>
}

const headEnd = "\r\n\r\n"

/** True if the text is a whole response. */
const isWhole = (text: string): boolean => {
  const head = text.indexOf(headEnd)
  if (head === -1) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))?.[1]
  if (length !== undefined) return text.length >= head + headEnd.length + Number(length)
  // Without a length the body comes in chunks; a status without a body has neither.
  return /\r\ntransfer-encoding: *chunked/i.test(text.slice(0, head))
    ? text.endsWith("\r\n0\r\n\r\n")
    : true
}

const exchange = (socket: Socket, request: Buffer) =>
  Effect.callback<Response>((resume) => {
    let text = ""
    let firstEventMs: number | undefined
    const stop = () => {
      socket.removeListener("data", onData)
      socket.removeListener("close", onClose)
    }
    const onClose = () => {
      stop()
      resume(Effect.die(new Error(`the connection was closed after ${text.slice(0, 300)}`)))
    }
    const startedAtMs = performance.now()
    const onData = (part: string) => {
      text += part
      if (firstEventMs === undefined && text.includes("\ndata: {")) {
        firstEventMs = performance.now() - startedAtMs
      }
      if (!isWhole(text)) return
      stop()
      resume(Effect.succeed({ text, ms: performance.now() - startedAtMs, firstEventMs }))
    }
    socket.on("data", onData)
    socket.once("close", onClose)
    socket.write(request)
    return Effect.sync(stop)
  })

/** Connects to a port of this machine. */
export const open = (port: number): Effect.Effect<RawHttp, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () =>
        resume(Effect.succeed(socket)),
      )
      // All bytes of these bodies are ASCII, so that a length in bytes is one in characters.
      socket.setEncoding("latin1")
      socket.once("error", (error) => resume(Effect.die(error)))
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  ).pipe(Effect.map((socket) => ({ send: (request) => exchange(socket, request) })))

/** A POST of a JSON-RPC message as bytes. */
export const post = (body: string, headers: Readonly<Record<string, string>> = {}): Buffer => {
  const lines = Object.entries({
    host: "127.0.0.1",
    authorization: "Bearer bench",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`)
}

/** The value of a header of a response; empty if there is none. */
export const headerOf = ({ text }: Response, name: string): string =>
  new RegExp(`\\r\\n${name}: *([^\\r]*)`, "i").exec(text.slice(0, text.indexOf(headEnd)))?.[1] ?? ""
