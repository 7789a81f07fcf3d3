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
  type Target,
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

interface HttpOptions {
  readonly authProvider: { readonly token: () => Promise<string> }
}

interface ClientModule {
  readonly StreamableHTTPClientTransport: new (
    url: URL,
    options: HttpOptions,
  ) => { terminateSession(): Promise<void> }
  readonly SSEClientTransport: new (url: URL, options: HttpOptions) => object
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

/** The revision whose transport over HTTP is another one. */
const sseRevision = "2024-11-05"

interface Link {
  readonly transport: object
  /** Says goodbye to the server, where the transport has a way to. */
  readonly leave: () => Promise<void>
}

const linkTo = (target: Target, { supportedProtocolVersions = [] }: Options): Link => {
  const leave = () => Promise.resolve()
  if ("command" in target) {
    const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio") as StdioModule
    return { transport: new StdioClientTransport({ ...target, stderr: "ignore" }), leave }
  }
  const module = load("@modelcontextprotocol/client") as ClientModule
  const options = { authProvider: { token: () => Promise.resolve(target.token) } }
  if (supportedProtocolVersions.includes(sseRevision)) {
    const transport = new module.SSEClientTransport(new URL(`${target.url}/sse`), options)
    return { transport, leave }
  }
  const url = new URL(`${target.url}/mcp`)
  const transport = new module.StreamableHTTPClientTransport(url, options)
  return { transport, leave: () => transport.terminateSession() }
}

const connectWith =
  (options: Options): Connect =>
  async (target, answer) => {
    const { Client } = load("@modelcontextprotocol/client") as ClientModule
    const { leave, transport } = linkTo(target, options)
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
    await client.connect(transport)
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
      close: async () => {
        await leave()
        await client.close()
      },
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
