/** Replays the HTTP requests of the recording `app_ws_http` against the built app-server, and compares the responses with the original's. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect } from "node:net"
import { compare, type Mismatch, type Reading } from "../../../server/test/support/Compare.ts"
import * as Recording from "../../../server/test/support/Recording.ts"
import { at, textAt } from "../../../server/test/support/ThreadNames.ts"
import type { WireMessage } from "../../../server/test/support/Wire.ts"
import { home as makeHome } from "./Home.ts"
import { type HttpProcess, startHttp } from "./HttpProcess.ts"

/** The version of the recording. */
export const version = "0.169.0-transport"

export const recording = "app_ws_http"

// -- the recorded client, of which the recording has the names of its requests

const key = "dGhlIHNhbXBsZSBub25jZQ=="

/** What a server that follows RFC 6455 makes of the key. */
const accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

type Headers = Readonly<Record<string, string | undefined>>

const textOf = (start: string, headers: Headers): string =>
  [
    `${start} HTTP/1.1`,
    ...Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}`],
    ),
    "\r\n",
  ].join("\r\n")

const plain =
  (start: string, more: Headers = {}) =>
  (host: string) =>
    textOf(start, { Host: host, Connection: "close", ...more })

const upgrade =
  (path: string, more: Headers = {}) =>
  (host: string) =>
    textOf(`GET ${path}`, {
      Host: host,
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key,
      ...more,
    })

/** The requests by their names in the recording. */
const requests: Readonly<Record<string, (host: string) => string>> = {
  "GET /readyz": plain("GET /readyz"),
  "GET /healthz": plain("GET /healthz"),
  "GET /": plain("GET /"),
  "GET /other": plain("GET /other"),
  "POST /": plain("POST /", { "Content-Length": "0" }),
  "GET /readyz with Origin": plain("GET /readyz", { Origin: "http://localhost" }),
  "HEAD /readyz": plain("HEAD /readyz"),
  "upgrade /": upgrade("/"),
  "upgrade /other": upgrade("/other"),
  "upgrade /readyz": upgrade("/readyz"),
  "upgrade with query": upgrade("/?a=b"),
  "upgrade with Origin http://localhost": upgrade("/", { Origin: "http://localhost" }),
  "upgrade with Origin null": upgrade("/", { Origin: "null" }),
  "upgrade with foreign Host": upgrade("/", { Host: "foreign.example" }),
  "upgrade with subprotocol": upgrade("/", { "Sec-WebSocket-Protocol": "proto" }),
  "upgrade with permessage-deflate": upgrade("/", {
    "Sec-WebSocket-Extensions": "permessage-deflate",
  }),
  "upgrade with zstd header": upgrade("/", { "x-codex-app-server-compression": "zstd" }),
  "upgrade version 8": upgrade("/", { "Sec-WebSocket-Version": "8" }),
  "upgrade without key": upgrade("/", { "Sec-WebSocket-Key": undefined }),
  garbage: () => "garbage\r\n\r\n",
  "upgrade with bearer although no auth": upgrade("/", { Authorization: "Bearer any" }),
}

/** The name of the one request that is sent to a server as it is installed, without a token. */
const installed = "upgrade / as installed"

// -- an exchange

const isWhole = (text: string, isHead: boolean): boolean => {
  const end = text.indexOf("\r\n\r\n")
  if (end === -1) return false
  const [, length = "0"] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end)) ?? []
  return isHead || text.length >= end + 4 + Number(length)
}

/** A ping without a text, masked with zeros, and its answer. */
const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0])
const pong = "\u008a\u0000"

interface Exchange {
  readonly text: string
  /** True when the server answers to something else on the same connection. */
  readonly isOpen: boolean
}

/** Sends the request, and once it has the response something else, to learn whether the connection is still open. */
const exchange = (port: number, request: string): Effect.Effect<Exchange> =>
  Effect.callback<Exchange>((resume) => {
    let text = ""
    let whole: string | undefined
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request, "latin1"))
    const finish = (isOpen: boolean) => {
      socket.destroy()
      resume(Effect.succeed({ text: whole ?? text, isOpen }))
    }
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part
      const isUpgraded = text.startsWith("HTTP/1.1 101 ")
      if (whole !== undefined) return finish(isUpgraded ? text.endsWith(pong) : true)
      if (!isWhole(text, request.startsWith("HEAD "))) return
      whole = text
      socket.write(isUpgraded ? ping : textOf("GET /healthz", { Host: `127.0.0.1:${port}` }))
    })
    socket.once("error", () => finish(false))
    socket.once("close", () => finish(false))
    return Effect.sync(() => socket.destroy())
  })

// -- the comparison

/** Headers that say nothing about what is served. */
const framing = new Set(["date", "content-length", "keep-alive"])

const messageOf = (label: string, text: string, isOpen: boolean): WireMessage => {
  const [head = "", ...rest] = text.replaceAll("\r\n", "\n").split("\n\n")
  const [status = "", ...lines] = head.split("\n")
  const headers = lines.flatMap((line) => {
    const [name = "", value = ""] = line.split(/: (.*)/)
    const lower = name.toLowerCase()
    // That it is kept open is seen; the recorder has left out the other one.
    return framing.has(lower) ||
      (lower === "connection" && value === "keep-alive") ||
      value === accept
      ? []
      : [[lower, lower === "connection" ? value.toLowerCase() : value] as const]
  })
  return {
    method: label,
    params: {
      status: Number(status.split(" ")[1]),
      headers: Object.fromEntries(headers),
      body: rest.join("\n\n"),
      isOpen,
    },
  }
}

const exitOf = (code: unknown, signal: unknown): WireMessage => ({
  method: "exit",
  params: { code, signal },
})

const listening = (stream: string, text: string): WireMessage => ({
  method: "listening",
  params: { stream, text: text.trim().replace(/:\d+$/, ":PORT") },
})

/** What the original did. */
const recorded: ReadonlyArray<WireMessage> = Recording.load(version, recording).flatMap((entry) => {
  if (entry.dir !== "note") return []
  const note: unknown = JSON.parse(entry.note)
  if (typeof note === "string") return [listening("stderr", note)]
  switch (at(note, "event")) {
    case "http":
      return [
        messageOf(textAt(note, "label"), textAt(note, "answer"), at(note, "ended") === "timeout"),
      ]
    case "process exit":
      return [exitOf(at(note, "code"), at(note, "signal"))]
    default:
      return []
  }
})

const reading: Reading = {
  groups: (messages) => Map.groupBy(messages, ({ method = "" }) => method),
  labelOf: ({ method = "" }) => method,
}

interface Listening {
  readonly server: HttpProcess
  readonly url: string
  readonly port: number
}

const start = (...args: ReadonlyArray<string>): Effect.Effect<Listening, never, Scope.Scope> =>
  Effect.gen(function* () {
    const home = yield* makeHome()
    const server = yield* startHttp(home, ["app-server", "--listen", "ws://127.0.0.1:0", ...args])
    const url = yield* server.url
    return { server, url, port: Number(new URL(url).port) }
  })

const ask = ({ port }: Listening, label: string, request: (host: string) => string) =>
  Effect.map(exchange(port, request(`127.0.0.1:${port}`)), ({ isOpen, text }) =>
    messageOf(label, text, isOpen),
  )

/** Every mismatch between the responses of the original and those of the built program. */
export const mismatches: Effect.Effect<ReadonlyArray<Mismatch>> = Effect.scoped(
  Effect.gen(function* () {
    const open = yield* start("-c", 'http.authentication="none"')
    const closed = yield* start()
    const named = recorded.flatMap(({ method = "" }) => {
      const request = requests[method]
      return request === undefined ? [] : [[method, request] as const]
    })
    const ours = yield* Effect.forEach(named, ([label, request]) => ask(open, label, request))
    const refused = yield* ask(closed, installed, upgrade("/"))
    yield* open.server.kill("SIGTERM")
    const { code, signal } = yield* open.server.exit
    const printed =
      open.server
        .stdout()
        .split("\n")
        .find((line) => line.includes(open.url)) ?? ""
    const unasked = recorded.find(({ method }) => method === "upgrade /")
    return compare(
      [...recorded, { ...unasked, method: installed }],
      [listening("stdout", printed), ...ours, exitOf(code, signal), refused],
      reading,
    )
  }),
)
