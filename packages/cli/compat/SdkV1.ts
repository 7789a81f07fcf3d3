/** Driver for `@modelcontextprotocol/sdk` 1.x. */
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js"
import type * as StdioModule from "@modelcontextprotocol/sdk/client/stdio.js"
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js"
import type { ToolResult } from "../test/support/Server.ts"
import { type Connect, type Event, listener, type Reader, load, withEvents } from "./Driver.ts"

type Transport = StdioModule.StdioClientTransport

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
  async (server, answer) => {
    const package_ = "@modelcontextprotocol/sdk"
    const { Client } = load(`${package_}/client/index.js`) as typeof ClientModule
    const { StdioClientTransport } = load(`${package_}/client/stdio.js`) as typeof StdioModule
    const { ElicitRequestSchema } = load(`${package_}/types.js`) as typeof TypesModule
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
    const transport = new StdioClientTransport({ ...server, stderr: "ignore" })
    let negotiated: string | undefined
    Object.assign(transport, {
      setProtocolVersion: (version: string) => {
        negotiated = version
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
      close: () => client.close(),
      events,
      errors,
    }
  }

export const connect: Connect = connectWith()

/** Connects as a client that supports no newer revision than this one. */
export const connectAt: (revision: string) => Connect = connectWith
