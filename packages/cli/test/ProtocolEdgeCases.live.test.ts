/** The protocol edge cases that need a process: how the built server exits, and where it logs. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { provided } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

/** Longer in ms than a shutdown takes while a turn runs, on a loaded machine. */
const boundMs = 10_000

const started = (script: Script.ProviderScript) =>
  Effect.gen(function* () {
    const provider = yield* MockProvider.make(script)
    return yield* Server.ready({ home: yield* provided(provider.baseUrl, "responses") })
  })

/** A server with a running turn that would never end by itself. */
const inTurn = Effect.tap(
  started([Script.reply(Script.bareDeltas("a"), Script.hang)]),
  (server) => {
    server.call(1, "codex", { prompt: "go on" })
    return server.event("agent_message_delta", 1)
  },
)

const endOf = (server: Server.Server) =>
  Effect.gen(function* () {
    const began = performance.now()
    const exit = yield* server.exit
    assert.isBelow(performance.now() - began, boundMs)
    return exit
  })

describe("Holes: stdio, the process", () => {
  it.live("EOF idle: exit code 0", () =>
    Effect.gen(function* () {
      const server = yield* started([])
      server.child.stdin.end()
      assert.deepStrictEqual(yield* endOf(server), { code: 0, signal: null })
    }),
  )

  it.live("EOF during a call: exit, abort", () =>
    Effect.gen(function* () {
      const server = yield* inTurn
      server.child.stdin.end()
      assert.deepStrictEqual(yield* endOf(server), { code: 0, signal: null })
      assert.strictEqual(server.eventTypes(1).at(-1), "turn_aborted")
      assert.strictEqual((yield* server.answer(1)).error?.code, -32000)
    }),
  )

  it.live("client closes our stdout: exit", () =>
    Effect.gen(function* () {
      const server = yield* inTurn
      server.child.stdout.destroy()
      // The server detects the closed output with its next write.
      server.send({ id: 2, method: "ping" })
      assert.deepStrictEqual(yield* endOf(server), { code: 0, signal: null })
    }),
  )

  it.live("logs by default: stderr", () =>
    Effect.gen(function* () {
      const server = yield* started([])
      server.write("nonsense\n")
      assert.strictEqual((yield* server.answer(null)).error?.code, -32700)
      server.child.stdin.end()
      yield* endOf(server)
      assert.include(server.stderr(), "unusable message")
      assert.deepStrictEqual(
        server.frames.filter(({ id }) => id === null).map(({ error }) => error?.code),
        [-32700],
      )
    }),
  )
})
