/** A server of the official SDK as its users write one: `echo` gives back a text, `count` sends progress notifications. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"

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

await server.connect(new StdioServerTransport())
