/** `@modelcontextprotocol/sdk` 1.x. */
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js"
import type * as StdioModule from "@modelcontextprotocol/sdk/client/stdio.js"
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js"
import type { ToolResult } from "../test/support/Server.ts"
import { type Connect, type Event, eventOf, load, withEvents } from "./Driver.ts"

type Transport = StdioModule.StdioClientTransport

/** The client offers its newest revision only: what it says on the wire is changed here, as an older one would say it. */
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
    client.fallbackNotificationHandler = ({ method, params }) => {
      if (method === "codex/event") events.push(eventOf(params))
      return Promise.resolve()
    }
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
      ping: () => client.ping(),
      revision: () => negotiated,
      close: () => client.close(),
      events,
      errors,
    }
  }

export const connect: Connect = connectWith()

/** As a client that knows nothing newer. */
export const connectAt: (revision: string) => Connect = connectWith
