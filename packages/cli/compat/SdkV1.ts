/** Driver for `@modelcontextprotocol/sdk` 1.x. */
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js"
import type * as SseModule from "@modelcontextprotocol/sdk/client/sse.js"
import type * as StdioModule from "@modelcontextprotocol/sdk/client/stdio.js"
import type * as HttpModule from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js"
import type { ToolResult } from "../test/support/Server.ts"
import {
  type Connect,
  type Event,
  listener,
  load,
  type Reader,
  type Target,
  withEvents,
} from "./Driver.ts"

const sdk = "@modelcontextprotocol/sdk"

/** The revision whose transport over HTTP is another one. */
const sseRevision = "2024-11-05"

interface Link {
  readonly transport: Transport
  /** Says goodbye to the server, where the transport has a way to. */
  readonly leave: () => Promise<void>
}

const linkTo = (target: Target, revision: string | undefined): Link => {
  const leave = () => Promise.resolve()
  if ("command" in target) {
    const { StdioClientTransport } = load(`${sdk}/client/stdio.js`) as typeof StdioModule
    return { transport: new StdioClientTransport({ ...target, stderr: "ignore" }), leave }
  }
  const requestInit = { headers: { Authorization: `Bearer ${target.token}` } }
  if (revision === sseRevision) {
    const { SSEClientTransport } = load(`${sdk}/client/sse.js`) as typeof SseModule
    return {
      transport: new SSEClientTransport(new URL(`${target.url}/sse`), { requestInit }),
      leave,
    }
  }
  const { StreamableHTTPClientTransport } = load(
    `${sdk}/client/streamableHttp.js`,
  ) as typeof HttpModule
  const transport = new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), { requestInit })
  return { transport, leave: () => transport.terminateSession() }
}

/** The client offers only its newest revision; this rewrites its `initialize` so that it offers an older one. */
const offering = (transport: Transport, revision: string | undefined): Transport => {
  if (revision === undefined) return transport
  const send = transport.send.bind(transport)
  transport.send = (message) =>
    send(
      "method" in message && message.method === "initialize"
        ? { ...message, params: { ...message.params, protocolVersion: revision } }
        : message,
    )
  return transport
}

const connectWith =
  (revision?: string): Connect =>
  async (target, answer) => {
    const { Client } = load(`${sdk}/client/index.js`) as typeof ClientModule
    const { ElicitRequestSchema } = load(`${sdk}/types.js`) as typeof TypesModule
    const capabilities = { ...withEvents, ...(answer === undefined ? {} : { elicitation: {} }) }
    const client = new Client({ name: "compat", version: "1" }, { capabilities })
    const events: Array<Event> = []
    const errors: Array<Error> = []
    Object.assign(client, { onerror: (error: Error) => errors.push(error) })
    const updated: Array<string> = []
    client.fallbackNotificationHandler = listener(events, updated)
    if (answer !== undefined) {
      client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
        ...(await answer(params.message, signal)),
      }))
    }
    const { leave, transport } = linkTo(target, revision)
    const setProtocolVersion = transport.setProtocolVersion?.bind(transport)
    let negotiated: string | undefined
    Object.assign(transport, {
      setProtocolVersion: (version: string) => {
        negotiated = version
        setProtocolVersion?.(version)
      },
    })
    await client.connect(offering(transport, revision))
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, args, options = {}) =>
        (await client.callTool(
          { name, arguments: args },
          undefined,
          options,
        )) as unknown as ToolResult,
      callAsTask: async (name, args) => {
        const statuses: Array<string> = []
        const { tasks } = client.experimental
        const messages = tasks.callToolStream({ name, arguments: args }, undefined, {
          task: { ttl: 60_000 },
        })
        for await (const message of messages) {
          if (message.type === "error") throw message.error
          if (message.type === "result") {
            return { statuses, result: message.result as unknown as ToolResult }
          }
          statuses.push(message.task.status)
        }
        throw new Error("the task ended without a result")
      },
      ping: () => client.ping(),
      revision: () => negotiated,
      reader: client as unknown as Reader,
      watch: async (uri) => {
        await client.subscribeResource({ uri })
        return () => client.unsubscribeResource({ uri })
      },
      updated,
      close: async () => {
        await leave()
        await client.close()
      },
      events,
      errors,
    }
  }

export const connect: Connect = connectWith()

/** Connects as a client that supports no newer revision than this one. */
export const connectAt: (revision: string) => Connect = connectWith
