/** Checks mcp-proxy: the server over streamable HTTP and over SSE. */
import { beforeAll } from "@effect/vitest"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { describeClient } from "./Driver.ts"
import { type Gateway, gatewayChecks, otherTransportChecks } from "./Gateways.ts"

beforeAll(buildIfMissing)

const overHttp: Gateway = {
  client: "mcp-proxy",
  path: "/mcp",
  transport: "streamable HTTP",
  line: (line) => line,
}

describeClient("@modelcontextprotocol/sdk", () => {
  describeClient("mcp-proxy", () => {
    describe("streamable HTTP", () => gatewayChecks(overHttp))
    describe("SSE", () => otherTransportChecks({ ...overHttp, path: "/sse", transport: "SSE" }))
  })
})
