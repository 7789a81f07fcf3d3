import type { Connection } from "@colloquy/protocol/Connection"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { Auth } from "../src/app/ports/AuthPort.ts"
import { HostPort } from "../src/app/ports/HostPort.ts"
import { UserConfig } from "../src/app/ports/UserConfigPort.ts"
import * as AppServer from "../src/AppServer.ts"
import * as EarlyAppHandshake from "../src/EarlyAppHandshake.ts"
import { withServer } from "./support/Harness.ts"

const userAgent = "colloquy/1.2.3 (Linux; x64)"

const clientInfo = { name: "test", title: null, version: "1" }

const initialize = (params: unknown, rest: object = { jsonrpc: "2.0", id: 1 }) =>
  JSON.stringify({ ...rest, method: "initialize", params })

/** What every test sends after the first line. */
const later = [
  JSON.stringify({ method: "initialized" }),
  initialize({ clientInfo }, { id: "again" }),
  JSON.stringify({ id: 1, method: "getUserAgent" }),
  JSON.stringify({ id: "unknown", method: "getUserAgen" }),
  JSON.stringify({ id: "new", method: "newConversation", params: { model: 1 } }),
]

const served = (connection: Connection) =>
  AppServer.serve(connection, { userAgent }).pipe(
    Effect.provideService(Auth, Auth.none),
    Effect.provideService(HostPort, HostPort.none),
    Effect.provideService(UserConfig, UserConfig.none),
  )

/** Serves with the early handshake, and counts the responses that were sent before the server began. */
const early = () => {
  let answered = 0
  const serve = (connection: Connection) =>
    EarlyAppHandshake.open(
      {
        ...connection,
        send: (texts, options) => {
          answered += texts.length
          return connection.send(texts, options)
        },
      },
      { userAgent },
    ).pipe(
      Effect.tap(() => Effect.sync(() => counted.push(answered))),
      Effect.flatMap(served),
    )
  const counted: Array<number> = []
  return { serve, answeredEarly: () => counted[0] }
}

const textsOf = (
  serve: typeof served,
  lines: ReadonlyArray<string>,
  atOnce: boolean,
): Effect.Effect<ReadonlyArray<string>> =>
  withServer({ serve }, (server) =>
    Effect.gen(function* () {
      if (atOnce) yield* server.sendTexts(...lines)
      else yield* Effect.forEach(lines, (line) => server.sendTexts(line), { discard: true })
      yield* server.quiet
      return [...server.texts]
    }),
  )

/** Asserts that both ways of serving send the same texts, and that the early handshake answered the first line or not. */
const isSame = (first: string, isAnswered: boolean) =>
  Effect.gen(function* () {
    for (const atOnce of [false, true]) {
      const lines = [first, ...later]
      const { answeredEarly, serve } = early()
      const expected = yield* textsOf(served, lines, atOnce)
      assert.deepStrictEqual(yield* textsOf(serve, lines, atOnce), expected)
      assert.strictEqual(answeredEarly(), isAnswered ? 1 : 0)
      assert.isAbove(expected.length, 3)
    }
  })

describe("EarlyAppHandshake", () => {
  it.effect.each<readonly [name: string, line: string]>([
    ["with the member `jsonrpc`", initialize({ clientInfo })],
    ["without the member `jsonrpc`", initialize({ clientInfo }, { id: 0 })],
    ["whose id is a text", initialize({ clientInfo }, { id: "1" })],
    [
      "whose id has more digits than a number",
      initialize({ clientInfo }).replace('"id":1', '"id":12345678901234567890'),
    ],
    [
      "with capabilities",
      initialize({ clientInfo, capabilities: { approvals: "none", elicitation: true } }),
    ],
    ["with capabilities that are null", initialize({ clientInfo, capabilities: null })],
    ["with unknown members", initialize({ clientInfo, later: 1 })],
  ])("L1 answers `initialize` %s once, as the server does", ([, line]) => isSame(line, true))

  it.effect.each<readonly [name: string, line: string]>([
    ["an `initialize` without params", initialize(undefined)],
    ["an `initialize` without a name", initialize({ clientInfo: { version: "1" } })],
    ["an `initialize` with a null id", initialize({ clientInfo }, { id: null })],
    ["an `initialize` that is a notification", initialize({ clientInfo }, {})],
    ["a batch", `[${initialize({ clientInfo })}]`],
    ["another request", JSON.stringify({ id: 1, method: "getUserAgent" })],
    ["no JSON", "x"],
  ])("L1 leaves %s to the server", ([, line]) => isSame(line, false))

  it.effect("serves nothing to a client that sends nothing", () =>
    Effect.gen(function* () {
      const connection: Connection = {
        peer: { principal: "local" },
        receive: Cause.done(),
        send: () => Effect.die("nothing is sent"),
        flush: Effect.void,
      }
      const opened = yield* EarlyAppHandshake.open(connection, { userAgent })
      assert.strictEqual((yield* Effect.flip(opened.receive))._tag, "Done")
    }),
  )
})
