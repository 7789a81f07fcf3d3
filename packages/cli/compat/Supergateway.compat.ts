/** Checks supergateway: the server over streamable HTTP and over SSE. */
import { beforeAll } from "@effect/vitest"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { describeClient } from "./Driver.ts"
import { type Gateway, gatewayChecks, otherTransportChecks } from "./Gateways.ts"

beforeAll(buildIfMissing)

const overHttp: Gateway = {
  client: "supergateway",
  path: "/mcp",
  transport: "streamable HTTP",
  line: (line) => line,
}

const overSse: Gateway = {
  ...overHttp,
  path: "/sse",
  transport: "SSE",
  line: (line) =>
    line.replace("--outputTransport streamableHttp --stateful", "--outputTransport sse"),
}

describeClient("@modelcontextprotocol/sdk", () => {
  describeClient("supergateway", () => {
    describe("streamable HTTP", () => gatewayChecks(overHttp))
    describe("SSE", () => otherTransportChecks(overSse))
  })
})
