import type { Connection } from "@colloquy/protocol/Connection"
import { protocolVersions } from "@colloquy/protocol/mcp/Initialize"
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as EarlyHandshake from "../src/EarlyHandshake.ts"
import * as McpServer from "../src/McpServer.ts"
import { type HarnessOptions, withServer } from "./support/Harness.ts"

const initialize = (params: object, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params,
})

const params = (protocolVersion: unknown, capabilities: unknown = {}) => ({
  protocolVersion,
  capabilities,
  clientInfo: { name: "test", title: null, version: "1" },
})

const ping = { jsonrpc: "2.0", id: "ping", method: "ping" }

/** What every test sends after the first line; the last one names the revision of its request. */
const later = [
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
  JSON.stringify(initialize(params("2025-06-18"), "again")),
  JSON.stringify([ping]),
  JSON.stringify({ jsonrpc: "2.0", id: "list", method: "tools/list" }),
  JSON.stringify({ jsonrpc: "2.0", id: "tasks", method: "tasks/list" }),
]

/** Serves with the early handshake, and notes whether it answered. */
const early = () => {
  let answered: boolean | undefined
  const serve = (connection: Connection, options: McpServer.McpServerOptions = {}) =>
    Effect.flatMap(EarlyHandshake.open(connection, options), (opened) => {
      const { initializeParams } = opened
      answered = initializeParams !== undefined
      return McpServer.serve(opened.connection, {
        ...options,
        ...(initializeParams === undefined ? {} : { initializeParams }),
      })
    })
  return { serve, answered: () => answered }
}

const textsOf = (options: HarnessOptions, lines: ReadonlyArray<string>, atOnce: boolean) =>
  withServer(options, (server) =>
    Effect.gen(function* () {
      if (atOnce) yield* server.sendTexts(...lines)
      else yield* Effect.forEach(lines, (line) => server.sendTexts(line), { discard: true })
      yield* server.quiet
      return [...server.texts]
    }),
  )

/** Asserts that both ways of serving send the same texts, and that the early handshake answered the first line or not. */
const isSame = (
  first: string,
  isAnswered: boolean,
  options: HarnessOptions = { version: "1.2.3" },
  atOnce = false,
) =>
  Effect.gen(function* () {
    const lines = [first, ...later]
    const { answered, serve } = early()
    const expected = yield* textsOf(options, lines, atOnce)
    assert.deepStrictEqual(yield* textsOf({ ...options, serve }, lines, atOnce), expected)
    assert.strictEqual(answered(), isAnswered)
    assert.isAbove(expected.length, 3)
  })

describe("EarlyHandshake", () => {
  it.effect.each([...protocolVersions, "2026-07-28", "1999-01-01", ""])(
    "L1 answers `initialize` of revision %j as the server does",
    (version) => isSame(JSON.stringify(initialize(params(version))), true),
  )

  it.effect.each<readonly [name: string, capabilities: object, options: HarnessOptions]>([
    ["without a version", {}, {}],
    ["that declines events", { experimental: { "codex/event": { enabled: false } } }, {}],
    ["of a server without events", {}, { events: "off" }],
    ["of a server that sends events twice", {}, { events: "twice" }],
    ["with forms", { elicitation: { form: {} }, roots: {} }, {}],
  ])("L1 answers `initialize` %s as the server does", ([, capabilities, options]) =>
    isSame(JSON.stringify(initialize(params("2025-11-25", capabilities))), true, options),
  )

  it.effect.each<readonly [name: string, id: unknown]>([
    ["text", "first"],
    ["empty text", ""],
    ["zero", 0],
    ["a negative integer", -5],
  ])("L1 answers the id as it was sent: %s", ([, id]) =>
    isSame(JSON.stringify(initialize(params("2025-06-18"), id)), true),
  )

  it.effect("L1 answers an id that a double cannot hold", () =>
    isSame(
      JSON.stringify(initialize(params("2025-06-18"), 7)).replace("7", "9007199254740993"),
      true,
    ),
  )

  it.effect("L1 passes on what was read in one piece with the first message", () =>
    isSame(JSON.stringify(initialize(params("2025-06-18"))), true, {}, true),
  )

  it.effect.each<readonly [name: string, line: string]>([
    ["another request", JSON.stringify(ping)],
    [
      "a notification",
      JSON.stringify({ jsonrpc: "2.0", method: "initialize", params: params("") }),
    ],
    ["no JSON", "{"],
    ["a batch", JSON.stringify([initialize(params("2025-06-18"))])],
    ["params that do not match", JSON.stringify(initialize({ protocolVersion: 1 }))],
    ["an id that is none", JSON.stringify(initialize(params("2025-06-18"), { a: 1 }))],
    [
      "a request that names its revision",
      JSON.stringify(
        initialize({ ...params("2025-06-18"), _meta: { [MetaKey.protocolVersion]: "2026-07-28" } }),
      ),
    ],
  ])("L1 leaves to the server: %s", ([, line]) => isSame(line, false))

  it.effect("ends with a connection that ends before its first message", () =>
    Effect.gen(function* () {
      const opened = yield* EarlyHandshake.open(
        {
          peer: { principal: "local" },
          receive: Cause.done(),
          send: () => Effect.die("nothing is sent"),
          flush: Effect.void,
        },
        {},
      )
      assert.isUndefined(opened.initializeParams)
      const received = yield* Effect.exit(opened.connection.receive)
      assert.isTrue(received._tag === "Failure")
    }),
  )
})
