/**
 * Driver for `@modelcontextprotocol/client` 2.x. Its types are not installed when this project's types are checked, so
 * this module declares the part that it uses.
 */
import type { ToolResult } from "../test/support/Server.ts"
import {
  type Answer,
  type CallOptions,
  type Connect,
  type Event,
  listener,
  load,
  type Reader,
  type ServerCommand,
  withEvents,
} from "./Driver.ts"

interface Client extends Reader {
  onerror?: (error: Error) => void
  fallbackNotificationHandler?: (notification: {
    readonly method: string
    readonly params?: unknown
  }) => Promise<void>
  setRequestHandler(
    method: "elicitation/create",
    handler: (
      request: { readonly params: { readonly message: string } },
      context: { readonly mcpReq: { readonly signal: AbortSignal } },
    ) => Promise<Answer>,
  ): void
  connect(transport: object): Promise<void>
  listTools(): Promise<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>
  callTool(
    call: { readonly name: string; readonly arguments: object },
    options: CallOptions,
  ): Promise<ToolResult>
  listen(filter: { readonly resourceSubscriptions: ReadonlyArray<string> }): Promise<{
    close(): Promise<void>
  }>
  subscribeResource(params: { readonly uri: string }): Promise<unknown>
  unsubscribeResource(params: { readonly uri: string }): Promise<unknown>
  ping(): Promise<unknown>
  getNegotiatedProtocolVersion(): string | undefined
  getProtocolEra(): "legacy" | "modern" | undefined
  close(): Promise<void>
}

interface Options {
  readonly versionNegotiation?: { readonly mode: "auto" | { readonly pin: string } }
  readonly supportedProtocolVersions?: ReadonlyArray<string>
}

interface ClientModule {
  readonly Client: new (
    info: { readonly name: string; readonly version: string },
    options: Options & { readonly capabilities: object },
  ) => Client
}

interface StdioModule {
  readonly StdioClientTransport: new (
    server: ServerCommand & { readonly stderr: "ignore" },
  ) => object
}

const connectWith =
  (options: Options): Connect =>
  async (server, answer) => {
    const { Client } = load("@modelcontextprotocol/client") as ClientModule
    const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio") as StdioModule
    const capabilities = {
      ...withEvents,
      ...(answer === undefined ? {} : { elicitation: { form: {} } }),
    }
    const client = new Client({ name: "compat", version: "1" }, { capabilities, ...options })
    const events: Array<Event> = []
    const errors: Array<Error> = []
    Object.assign(client, { onerror: (error: Error) => errors.push(error) })
    const updated: Array<string> = []
    client.fallbackNotificationHandler = listener(events, updated)
    if (answer !== undefined) {
      client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
        answer(params.message, mcpReq.signal),
      )
    }
    await client.connect(new StdioClientTransport({ ...server, stderr: "ignore" }))
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, args, call = {}) => client.callTool({ name, arguments: args }, call),
      // The newest revision has no `ping`.
      ping: () =>
        client.getProtocolEra() === "modern"
          ? client.callTool({ name: "conversationsList", arguments: {} }, {})
          : client.ping(),
      revision: () => client.getNegotiatedProtocolVersion(),
      reader: client,
      watch: async (uri) => {
        if (client.getProtocolEra() === "modern") {
          const subscription = await client.listen({ resourceSubscriptions: [uri] })
          return () => subscription.close()
        }
        await client.subscribeResource({ uri })
        return () => client.unsubscribeResource({ uri })
      },
      updated,
      close: () => client.close(),
      events,
      errors,
    }
  }

export const connect: Connect = connectWith({})

/** Connects as a client that supports no newer revision than this one. */
export const connectAt = (revision: string): Connect =>
  connectWith({ supportedProtocolVersions: [revision] })

/** Tries the revision without `initialize` first, and falls back if the server does not support it. */
export const connectNewest: Connect = connectWith({ versionNegotiation: { mode: "auto" } })

/** Requests this revision without `initialize` and accepts no other. */
export const connectPinned = (pin: string): Connect =>
  connectWith({ versionNegotiation: { mode: { pin } } })
