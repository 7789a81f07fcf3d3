/**
 * Serves a stdio server over Streamable HTTP, because the referee supports nothing else. In revisions with sessions
 * each client gets a separate process; in those without, all requests share one. The bridge handles what stdio does
 * not have: hosts, headers, sessions, streams, status codes. Scenarios about these say nothing about the server.
 */
import type { JsonSchema } from "@colloquy/protocol/JsonSchema"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import type { ServerCommand } from "../Driver.ts"
import { type Child, type Message, metaOf, start } from "./Child.ts"
import { fault, headerOf, isLocal, isStateless, versionKey } from "./Headers.ts"

const invalidRequest = -32600
const parseError = -32700
const headerMismatch = -32020

const sessionHeader = "mcp-session-id"
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

const reply = (response: ServerResponse, status: number, body?: object, headers = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(body === undefined ? "" : JSON.stringify(body))
}

const refuse = (
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id: Message["id"] = null,
): void => reply(response, status, { jsonrpc: "2.0", id, error: { code, message } })

/** The HTTP status of the response to a stateless request. */
const statusOf = (request: Message, answer: Message): number => {
  const code = answer.error?.code
  const meta = metaOf(request.params)
  const isComplete = meta?.[versionKey] !== undefined && meta[capabilitiesKey] !== undefined
  if (code === -32601) return 404
  if (code === -32602) return isComplete ? 200 : 400
  return code !== undefined && code <= headerMismatch && code >= -32022 ? 400 : 200
}

const openStream = (response: ServerResponse, headers = {}) => {
  response.writeHead(200, { "content-type": "text/event-stream", ...headers })
  response.flushHeaders()
}

const writeEvent = (response: ServerResponse, message: Message) =>
  response.write(`data: ${JSON.stringify(message)}\n\n`)

/** Forwards a request and streams the messages that belong to it; a response without others is sent as plain JSON. */
const relay = (
  child: Child,
  request: Message & { readonly id: string | number; readonly method: string },
  response: ServerResponse,
  options: {
    readonly stateless: boolean
    readonly headers?: object
    readonly answered?: (message: Message) => void
  },
): void => {
  const pipeId = child.open(request, {
    id: request.id,
    method: request.method,
    progressToken: metaOf(request.params)?.["progressToken"],
    event: (message) => {
      if (!response.headersSent) openStream(response, options.headers)
      writeEvent(response, message)
    },
    answer: (message) => {
      options.answered?.(message)
      if (response.headersSent) {
        writeEvent(response, message)
        response.end()
      } else {
        const status = options.stateless ? statusOf(request, message) : 200
        reply(response, status, message, options.headers)
      }
    },
  })
  response.on("close", () => {
    // Only since 2026-07-28 does a client cancel its request by disconnecting.
    if (options.stateless) child.withdraw(pipeId, metaOf(request.params))
  })
}

type Request = Parameters<typeof relay>[1]

const isRequest = (message: Message): message is Request =>
  message.method !== undefined && message.id !== undefined && message.id !== null

/** The processes behind one address. */
const makeProcesses = (command: ServerCommand) => {
  const all: Array<Child> = []
  const launch = () => {
    const child = start(command)
    all.push(child)
    return child
  }
  let shared: Child | undefined
  // A process takes a third of a second to start, so the next session's process starts while this one is served.
  let spare = launch()
  return {
    all,
    shared: () => (shared ??= launch()),
    take: () => {
      const taken = spare
      spare = launch()
      return taken
    },
  }
}

type Processes = ReturnType<typeof makeProcesses>

interface Tool {
  readonly name: string
  readonly inputSchema: JsonSchema
}

const listener = (processes: Processes) => {
  const sessions = new Map<string, Child>()
  const schemas = new Map<string, JsonSchema>()

  const onSession = (request: IncomingMessage, response: ServerResponse, message: Message) => {
    const id = headerOf(request, sessionHeader)
    const child = id === undefined ? undefined : sessions.get(id)
    if (child === undefined) {
      const status = id === undefined ? 400 : 404
      return refuse(response, status, invalidRequest, "no such session", message.id)
    }
    if (isRequest(message)) return relay(child, message, response, { stateless: false })
    child.send(message)
    return reply(response, 202)
  }

  const onInitialize = (response: ServerResponse, message: Request) => {
    const id = randomUUID()
    const child = processes.take()
    sessions.set(id, child)
    relay(child, message, response, { stateless: false, headers: { [sessionHeader]: id } })
  }

  const onStateless = (request: IncomingMessage, response: ServerResponse, message: Message) => {
    const child = processes.shared()
    if (!isRequest(message)) {
      child.send(message)
      return reply(response, 202)
    }
    const wrong = fault(request, message, schemas)
    if (wrong !== undefined) return refuse(response, 400, wrong.code, wrong.message, message.id)
    const answered = ({ result }: Message) => {
      if (message.method !== "tools/list") return
      for (const { inputSchema, name } of (result?.["tools"] ?? []) as ReadonlyArray<Tool>) {
        schemas.set(name, inputSchema)
      }
    }
    return relay(child, message, response, { stateless: true, answered })
  }

  const onPost = async (request: IncomingMessage, response: ServerResponse) => {
    let message: Message
    try {
      message = JSON.parse(await text(request)) as Message
    } catch {
      return refuse(response, 400, parseError, "this is no JSON")
    }
    if (Array.isArray(message)) return refuse(response, 400, invalidRequest, "no batches here")
    if (isStateless(request, message)) return onStateless(request, response, message)
    return message.method === "initialize" && isRequest(message)
      ? onInitialize(response, message)
      : onSession(request, response, message)
  }

  const onOther = (request: IncomingMessage, response: ServerResponse) => {
    const id = headerOf(request, sessionHeader) ?? ""
    const child = sessions.get(id)
    if (child === undefined) return reply(response, id === "" ? 405 : 404)
    if (request.method === "DELETE") {
      sessions.delete(id)
      void child.stop()
      return reply(response, 204)
    }
    openStream(response)
    child.listener = (message) => writeEvent(response, message)
    response.on("close", () => {
      child.listener = undefined
    })
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (!isLocal(request)) refuse(response, 403, invalidRequest, "this is for this machine alone")
    else if (request.method === "POST") void onPost(request, response)
    else onOther(request, response)
  }
}

export interface Bridge {
  readonly url: string
  /** The last part of what the server processes wrote to stderr. */
  readonly complaints: () => string
}

/** Serves until the scope closes, which also ends the processes. */
export const bridge = (command: ServerCommand): Effect.Effect<Bridge, never, Scope.Scope> =>
  Effect.gen(function* () {
    const processes = yield* Effect.acquireRelease(
      Effect.sync(() => makeProcesses(command)),
      ({ all }) => Effect.promise(() => Promise.all(all.map((child) => child.stop()))),
    )
    const server = yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const made = createServer(listener(processes))
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.callback<void>((resume) => {
          made.close(() => resume(Effect.void))
          made.closeAllConnections()
        }),
    )
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      complaints: () => processes.all.map((child) => child.complaints()).join(""),
    }
  })
