/** A server of the official SDK over HTTP with sessions, as its examples show: one server object per session. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { z } from "zod"
import { tellPort } from "./HttpPeer.ts"

const makeServer = () => {
  const server = new McpServer({ name: "peer", version: "0.0.0" })
  server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: "text", text }],
  }))
  server.registerTool("count", { inputSchema: { to: z.number() } }, async ({ to }, extra) => {
    for (let progress = 1; progress <= to; progress++) {
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken: extra._meta.progressToken, progress, message: "and one more" },
      })
    }
    return { content: [{ type: "text", text: "done" }] }
  })
  return server
}

const transports = new Map()

const open = async () => {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    // With it the SDK is faster, and sends no progress: as its users choose.
    enableJsonResponse: process.argv[2] === "json",
    onsessioninitialized: (id) => transports.set(id, transport),
  })
  await makeServer().connect(transport)
  return transport
}

const server = createServer(async (request, response) => {
  const id = request.headers["mcp-session-id"]
  const transport = id === undefined ? await open() : transports.get(id)
  await transport.handleRequest(request, response)
})

tellPort(server).listen(0, "127.0.0.1")
