/** The peer we measure ourselves against: a server of the official SDK, on its low level, that answers `ping`. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"

const server = new Server({ name: "peer", version: "0.0.0" }, { capabilities: { tools: {} } })
await server.connect(new StdioServerTransport())
