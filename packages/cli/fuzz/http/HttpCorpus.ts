/** Valid HTTP requests to every route, from which the inputs of the edges are made. */
import { PlainApi } from "@colloquy/transport-http/v1/PlainApi"
import { handshakeVersions, MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { encode } from "@colloquy/simulation/fuzz/Bytes"
import * as Base64Url from "effect/encoding/Base64Url"
import * as OpenApi from "effect/http-api/OpenApi"
import { asking, Ids } from "../frames/Services.ts"
import { type RequestText, requestsText } from "./RequestText.ts"

type Header = readonly [name: string, value: string]

const host: Header = ["host", "localhost:8747"]
const bearer: Header = ["authorization", "Bearer secret-of-ada"]
const json: Header = ["content-type", "application/json"]
const both: Header = ["accept", "application/json, text/event-stream"]

/** Headers of a client that may use the server. */
export const goodHeaders: ReadonlyArray<Header> = [host, bearer]

/** The id of the n-th session of a fuzzed server, counted from 1: its random bytes are a count. */
export const sessionId = (n: number): string => {
  const bytes = new Uint8Array(24)
  bytes[0] = n
  return Base64Url.encode(bytes)
}

/** A request with the credentials of a client. */
export const request = (
  method: string,
  target: string,
  headers: ReadonlyArray<Header> = [],
  body?: unknown,
): RequestText => ({
  method,
  target,
  headers: [...goodHeaders, ...(body === undefined ? [] : [json]), ...headers],
  body: body === undefined ? "" : JSON.stringify(body),
})

const post = (
  method: string,
  params: unknown,
  headers: ReadonlyArray<Header> = [],
  id: unknown = 1,
  target = "/mcp",
): RequestText =>
  request("POST", target, [both, ...headers], { jsonrpc: "2.0", id, method, params })

const notify = (method: string, params: unknown, headers: ReadonlyArray<Header>): RequestText =>
  request("POST", "/mcp", [both, ...headers], { jsonrpc: "2.0", method, params })

/** The request that opens a session. */
export const initialize = (protocolVersion: string): RequestText =>
  post("initialize", {
    protocolVersion,
    capabilities: { elicitation: {} },
    clientInfo: { name: "fuzz", version: "1" },
  })

/** A call of a tool in a session. */
export const call = (name: string, args: object, headers: ReadonlyArray<Header>, id: unknown = 2) =>
  post("tools/call", { name, arguments: args, _meta: { progressToken: "t" } }, headers, id)

const sessionInput = (version: string): ReadonlyArray<RequestText> => {
  const of: ReadonlyArray<Header> = [
    ["mcp-session-id", sessionId(1)],
    ["mcp-protocol-version", version],
  ]
  return [
    initialize(version),
    notify("notifications/initialized", {}, of),
    post("ping", {}, of, 2),
    post("ping", {}, of, "two"),
    call("codex", { prompt: "hello" }, of, 3),
    call("codex", { prompt: asking }, of, 4),
    notify("notifications/cancelled", { requestId: 4 }, of),
    request("GET", "/mcp", [["accept", "text/event-stream"], ...of]),
    request("GET", "/mcp", [["accept", "text/event-stream"], ["last-event-id", "5-1"], ...of]),
    request(
      "POST",
      "/mcp",
      [both, ...of],
      [
        { jsonrpc: "2.0", id: 7, method: "ping" },
        { jsonrpc: "2.0", id: 8, method: "tools/list" },
      ],
    ),
    request("DELETE", "/mcp", of),
  ]
}

const meta = {
  [MetaKey.protocolVersion]: statelessVersions[0],
  [MetaKey.clientInfo]: { name: "fuzz", version: "1" },
  [MetaKey.clientCapabilities]: { elicitation: {} },
}

const stateless = (method: string, params: object, name?: string): RequestText =>
  post(method, { ...params, _meta: meta }, [
    ["mcp-protocol-version", statelessVersions[0] ?? ""],
    ["mcp-method", method],
    ...(name === undefined ? [] : [["mcp-name", name] as const]),
  ])

/** Requests of the transport of 2024-11-05; the session of the stream has ended with it. */
const sse: ReadonlyArray<RequestText> = [
  request("GET", "/sse", [["accept", "text/event-stream"]]),
  post("ping", {}, [], 1, `/messages?sessionId=${sessionId(1)}`),
]

const conversation = Ids.nth(1)

const values: Readonly<Record<string, unknown>> = {
  input: "hello",
  decision: "approved",
  whileRunning: "queue",
}

/** One request to each route of the plain API, from its own definition. */
const plainRequests = (): ReadonlyArray<RequestText> =>
  Object.entries(OpenApi.fromApi(PlainApi).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const hasBody = (operation as { readonly requestBody?: unknown }).requestBody !== undefined
      const target = path.replaceAll(/\{id\}/g, conversation).replaceAll(/\{\w+\}/g, "3")
      return request(method.toUpperCase(), target, [], hasBody ? values : undefined)
    }),
  )

const create = request("POST", "/v1/conversations", [], {})

const turnsInput: ReadonlyArray<RequestText> = [
  create,
  request("POST", `/v1/conversations/${conversation}/turns?wait=true`, [], { input: "hello" }),
  request("GET", `/v1/conversations/${conversation}/events?after=1`),
  request("GET", `/v1/conversations/${conversation}/events`, [["last-event-id", "2"]]),
  request("POST", `/v1/conversations/${conversation}/turns`, [], { input: asking }),
  request("GET", `/v1/conversations/${conversation}/questions`),
  request("POST", `/v1/conversations/${conversation}/interrupt`),
]

const others: ReadonlyArray<RequestText> = [
  request("GET", "/healthz"),
  request("GET", "/readyz"),
  request("GET", "/metrics"),
  request("GET", "/v1/openapi.json"),
  request("OPTIONS", "/mcp", [["origin", "http://localhost:8747"]]),
  request("GET", "/ws", [
    ["connection", "Upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-version", "13"],
    ["sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="],
  ]),
]

/** Whole requests, alone and in sequence. */
export const requestCorpus = (): ReadonlyArray<Uint8Array> =>
  [
    ...handshakeVersions.map(sessionInput),
    [stateless("tools/list", {})],
    [stateless("tools/call", { name: "codex", arguments: { prompt: "hello" } }, "codex")],
    sse,
    turnsInput,
    ...plainRequests().map((one) => [create, one]),
    ...others.map((one) => [one]),
  ].map((requests) => encode(requestsText(requests)))

/** Headers of which some are not to be accepted, to a route that lists what belongs to a principal and to others. */
const headerSets: ReadonlyArray<ReadonlyArray<Header>> = [
  goodHeaders,
  [host],
  [bearer],
  [host, ["authorization", "bearer  secret-of-bob "]],
  [host, ["authorization", "Basic c2VjcmV0LW9mLWFkYTo="]],
  [host, ["authorization", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."]],
  [host, bearer, bearer],
  [host, host, bearer],
  [["host", "evil.example"], bearer],
  [["host", "[::1]:8747"], bearer],
  [host, bearer, ["origin", "http://localhost:8747"]],
  [host, bearer, ["origin", "https://evil.example"]],
  [host, bearer, ["origin", "null"]],
  [host, bearer, ["x-forwarded-host", "evil.example"], ["forwarded", "host=evil.example"]],
  [host, bearer, ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]],
  [host, bearer, ["content-length", "0"], ["content-type", "application/json; charset=utf-8"]],
  [host, bearer, ["accept", "text/event-stream;q=0.5, */*;q=0"], ["cookie", "a=b; c"]],
  [host, bearer, ["mcp-session-id", sessionId(1)], ["mcp-protocol-version", "2025-06-18"]],
  [host, bearer, ["last-event-id", "1"], ["range", "bytes=0-1"], ["expect", "100-continue"]],
]

const headerRequests = (): ReadonlyArray<RequestText> => [
  ...others,
  request("GET", "/v1/conversations"),
  create,
  initialize("2025-11-25"),
  request("GET", "/sse"),
]

/** One request with each set of headers. */
export const headerCorpus = (): ReadonlyArray<Uint8Array> =>
  headerRequests().flatMap((one) =>
    headerSets.map((headers) =>
      encode(
        requestsText([
          {
            ...one,
            headers: [
              ...headers,
              ...one.headers.filter(([name]) => !headers.some(([given]) => given === name)),
            ].filter(
              ([name]) =>
                headers.some(([given]) => given === name) ||
                (name !== host[0] && name !== bearer[0]),
            ),
          },
        ]),
      ),
    ),
  )
