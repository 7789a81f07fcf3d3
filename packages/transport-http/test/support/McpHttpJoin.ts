/**
 * A client of Streamable HTTP as a connection: each text that is sent is a POST, and what arrives on any stream is received.
 * With it the behaviours of a server that are written once run over HTTP.
 */
import type { Join } from "../../../server/test/behaviours/MemoryWorld.ts"
import type { Connection, Frame } from "@colloquy/protocol/Connection"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import type { Server } from "@colloquy/server/Server"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { eventsOf, type Headers, type McpHttp, mcpHttp, quiet, type Sent } from "./McpHttp.ts"

interface Outgoing {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const nameOf = ({ params = {} }: Outgoing): unknown =>
  params["name"] ?? params["uri"] ?? params["taskId"]

const headerValue = (value: string): string =>
  /^[\x21-\x7e]+$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`

const metaVersion = "io.modelcontextprotocol/protocolVersion"

const versionIn = (message: Outgoing): unknown =>
  (message.params?.["_meta"] as Readonly<Record<string, unknown>> | undefined)?.[metaVersion]

const statelessHeaders = (message: Outgoing): Headers => {
  const name = nameOf(message)
  const version = versionIn(message)
  return {
    ...(typeof version === "string" ? { "mcp-protocol-version": version } : {}),
    "mcp-method": message.method ?? "",
    ...(typeof name === "string" ? { "mcp-name": headerValue(name) } : {}),
  }
}

/** Reads the events of a stream from the parts in which it arrives. */
const eventReader = (onEvent: (sent: Sent) => void) => {
  let rest = ""
  return (part: string) => {
    const blocks = (rest + part).split("\n\n")
    rest = blocks.pop() ?? ""
    for (const sent of eventsOf(blocks.join("\n\n"))) onEvent(sent)
  }
}

const connect = Effect.fnUntraced(function* (http: McpHttp, revision: Revision) {
  const scope = yield* Effect.scope
  const incoming = yield* Queue.unbounded<Frame, Cause.Done>()
  const isStateless = revision >= "2026"
  /** What a client of 2026-07-28 disconnects to cancel a request. */
  const posts = new Map<unknown, Scope.Closeable>()
  let session: Headers = {}
  const arrive = (text: string) => Queue.offerUnsafe(incoming, { _tag: "Text", text })
  const streamReader = () =>
    eventReader(({ data = "", event }) => {
      if (event === "message" && data !== "") arrive(data)
    })
  const headersOf = (message: Outgoing): Headers => ({
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": revision,
    ...session,
    ...(isStateless || versionIn(message) !== undefined ? statelessHeaders(message) : {}),
  })
  const post = Effect.fnUntraced(function* (text: string, message: Outgoing) {
    const read = streamReader()
    const headers = headersOf(message)
    const reading = yield* http.request("POST", headers, text, read)
    if (message.method === "initialize" && !("mcp-session-id" in session)) {
      session = { "mcp-session-id": reading.headers["mcp-session-id"] ?? "" }
      yield* http.request("GET", { ...headers, ...session }, undefined, streamReader())
    }
    yield* reading.over
    if (reading.headers["content-type"]?.startsWith("application/json")) arrive(reading.text())
  })
  const send = (text: string) =>
    Effect.gen(function* () {
      const message = JSON.parse(text) as Outgoing
      if (isStateless && message.method === "notifications/cancelled") {
        const open = posts.get(message.params?.["requestId"])
        if (open !== undefined) yield* Scope.close(open, Exit.void)
        return
      }
      const own = yield* Scope.fork(scope)
      if (message.method !== undefined && message.id !== undefined) posts.set(message.id, own)
      const sent = Effect.provideService(post(text, message), Scope.Scope, own)
      if (message.method === undefined || message.id === undefined) yield* sent
      else yield* Effect.forkIn(sent, own, { startImmediately: true })
    })
  const connection: Connection = {
    peer: { principal: "local" },
    receive: Queue.takeAll(incoming),
    send: (texts) => Effect.forEach(texts, send, { discard: true }),
    flush: Effect.void,
  }
  return connection
})

const connectSse = Effect.fnUntraced(function* (http: McpHttp) {
  const incoming = yield* Queue.unbounded<Frame, Cause.Done>()
  const read = eventReader(({ data = "", event }) => {
    if (event === "message") Queue.offerUnsafe(incoming, { _tag: "Text", text: data })
  })
  const reading = yield* http.request("GET", {}, undefined, read, "/sse")
  yield* quiet
  const address = reading.events().find(({ event }) => event === "endpoint")?.data ?? ""
  const send = (text: string) =>
    http.request("POST", { "content-type": "application/json" }, text, undefined, address)
  const connection: Connection = {
    peer: { principal: "local" },
    receive: Queue.takeAll(incoming),
    send: (texts) => Effect.scoped(Effect.forEach(texts, send, { discard: true })),
    flush: Effect.void,
  }
  return connection
})

/** Joins a client and a server by HTTP with SSE. */
export const sseJoin: Join = (serve) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Server>()
    const http = yield* mcpHttp((connection) => Effect.provideContext(serve(connection), context))
    return yield* connectSse(http)
  })

/** Joins a client and a server by Streamable HTTP. */
export const httpJoin: Join = (serve, revision) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Server>()
    const http = yield* mcpHttp((connection) => Effect.provideContext(serve(connection), context))
    return yield* connect(http, revision)
  })
