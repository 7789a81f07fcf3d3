import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { McpSessionsOptions } from "../../src/mcp/McpSessions.ts"
import { type Headers, type McpHttp, mcpHttp, quiet, type Reading } from "../support/McpHttp.ts"
import { type ScriptedProgram, scriptedProgram } from "../support/ScriptedProgram.ts"

const both: Headers = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
}

const requestOf = (id: number | string, method: string, params: unknown = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

interface Client {
  readonly http: McpHttp
  readonly program: ScriptedProgram
  /** Opens a session and resolves with the headers of its requests. */
  readonly open: (revision?: string) => Effect.Effect<Headers, never, Scope.Scope>
}

const withClient = <A, E>(
  body: (client: Client) => Effect.Effect<A, E, Scope.Scope>,
  options?: McpSessionsOptions,
) =>
  Effect.gen(function* () {
    const program = scriptedProgram()
    const http = yield* mcpHttp(program.serve, options)
    const open: Client["open"] = Effect.fnUntraced(function* (revision = "2025-11-25") {
      const body = requestOf(0, "initialize", { protocolVersion: revision })
      const { headers } = yield* http.request("POST", both, body)
      return {
        ...both,
        "mcp-session-id": headers["mcp-session-id"] ?? "",
        "mcp-protocol-version": revision,
      }
    })
    return yield* body({ http, program, open })
  })

/** Opens a POST that is not responded to, as a stream. */
const stream = Effect.fnUntraced(function* ({ http }: Client, headers: Headers, id: number = 1) {
  const post = yield* Effect.forkChild(http.request("POST", headers, requestOf(id, "wait")), {
    startImmediately: true,
  })
  yield* quiet
  yield* TestClock.adjust(100)
  return yield* Fiber.join(post)
})

const dataOf = (reading: Reading) =>
  reading
    .events()
    .flatMap(({ data }) =>
      data === undefined || data === "" ? [] : [JSON.parse(data) as Record<string, unknown>],
    )

const idsOf = (reading: Reading) =>
  reading.events().flatMap(({ id }) => (id === undefined ? [] : [id]))

const errorOf = (reading: Reading) =>
  (JSON.parse(reading.text()) as { readonly error: { readonly code: number } }).error

describe("sessions", () => {
  it.effect("are opened by initialize, required afterwards, and unknown once they have ended", () =>
    withClient(({ http, open }) =>
      Effect.gen(function* () {
        const headers = yield* open()
        assert.match(headers["mcp-session-id"] ?? "", /^[\x21-\x7e]{32,}$/)
        const ping = (more: Headers) => http.request("POST", more, requestOf(1, "ping"))
        assert.strictEqual((yield* ping(headers)).status, 200)
        assert.strictEqual((yield* ping(both)).status, 400)
        assert.strictEqual((yield* ping({ ...headers, "mcp-session-id": "none" })).status, 404)
        assert.strictEqual((yield* ping({ ...headers, "x-principal": "other" })).status, 404)
        const other = { ...headers, "x-principal": "other" }
        assert.strictEqual((yield* http.request("DELETE", other)).status, 404)
        assert.strictEqual((yield* http.request("DELETE", headers)).status, 204)
        assert.strictEqual((yield* ping(headers)).status, 404)
        assert.strictEqual((yield* http.request("GET", headers)).status, 404)
      }),
    ),
  )

  it.effect("end when they are idle, but not while a request is in flight", () =>
    withClient(
      (client) =>
        Effect.gen(function* () {
          const { http, open, program } = client
          const idle = yield* open()
          const busy = yield* open()
          const call = yield* stream(client, busy)
          yield* call.disconnect
          yield* TestClock.adjust("3 minutes")
          assert.strictEqual((yield* http.request("GET", idle)).status, 404)
          const ping = http.request("POST", busy, requestOf(2, "ping"))
          assert.strictEqual((yield* ping).status, 200)
          yield* program.respond(0, "done")
          yield* TestClock.adjust("3 minutes")
          assert.strictEqual((yield* ping).status, 404)
        }),
      { idleTimeout: "1 minute" },
    ),
  )

  it.effect("are limited, and one that ends makes room", () =>
    withClient(
      ({ http, open }) =>
        Effect.gen(function* () {
          const first = yield* open()
          const body = requestOf(0, "initialize", { protocolVersion: "2025-11-25" })
          const refused = yield* http.request("POST", both, body)
          assert.strictEqual(refused.status, 503)
          assert.strictEqual(refused.headers["retry-after"], "30")
          yield* http.request("DELETE", first)
          assert.strictEqual((yield* http.request("POST", both, body)).status, 200)
        }),
      { maxSessions: 1 },
    ),
  )
})

describe("messages", () => {
  it.effect("without a request get 202, unreadable ones 400 with an error", () =>
    withClient(({ http, open }) =>
      Effect.gen(function* () {
        const headers = yield* open()
        const post = (text: string) => http.request("POST", headers, text)
        const note = yield* post('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        assert.deepStrictEqual([note.status, note.text()], [202, ""])
        assert.strictEqual((yield* post('{"jsonrpc":"2.0","id":5,"result":{}}')).status, 202)
        const broken = yield* post("{")
        assert.deepStrictEqual([broken.status, errorOf(broken).code], [400, -32700])
      }),
    ),
  )

  it.effect("of the wrong type, or for a client that reads no stream, are refused", () =>
    withClient(({ http, open }) =>
      Effect.gen(function* () {
        const headers = yield* open()
        const post = (more: Headers) =>
          Effect.map(
            http.request("POST", { ...headers, ...more }, requestOf(1, "ping")),
            ({ status }) => status,
          )
        assert.strictEqual(yield* post({ accept: "application/json" }), 406)
        assert.strictEqual(yield* post({ "content-type": "text/plain" }), 415)
        assert.strictEqual(yield* post({ "mcp-protocol-version": "1999-01-01" }), 400)
        assert.strictEqual((yield* http.request("PUT", headers, "{}")).status, 405)
      }),
    ),
  )

  it.effect("in an array are served in the revision that has them only", () =>
    withClient(({ http, open }) =>
      Effect.gen(function* () {
        const batch = `[${requestOf(1, "ping")},${requestOf(2, "ping")}]`
        const old = yield* http.request("POST", yield* open("2025-03-26"), batch)
        assert.strictEqual(old.status, 200)
        assert.lengthOf(JSON.parse(old.text()) as ReadonlyArray<unknown>, 2)
        const newer = yield* http.request("POST", yield* open("2025-06-18"), batch)
        assert.deepStrictEqual([newer.status, errorOf(newer).code], [400, -32600])
      }),
    ),
  )

  it.effect("with an id in flight get their own responses, with that id", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const headers = yield* client.open()
        const first = yield* stream(client, headers, 7)
        const second = yield* stream(client, headers, 7)
        yield* client.program.respond(1, "second")
        yield* client.program.respond(0, "first")
        yield* quiet
        assert.deepStrictEqual(
          [first, second].map((one) => dataOf(one)),
          ["first", "second"].map((text) => [{ jsonrpc: "2.0", id: 7, result: { text } }]),
        )
        assert.isTrue(first.isOver() && second.isOver())
      }),
    ),
  )
})

describe("streams", () => {
  it.effect("begin with an id in the revision that reads it, and stay alive by comments", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const call = yield* stream(client, yield* client.open())
        assert.strictEqual(call.headers["x-accel-buffering"], "no")
        const [first] = call.events()
        assert.strictEqual(first?.data, "")
        assert.match(first?.id ?? "", /^\d+-0$/)
        const older = yield* stream(client, yield* client.open("2025-06-18"))
        assert.deepStrictEqual(idsOf(older), [])
        yield* quiet
        yield* TestClock.adjust("31 seconds")
        yield* quiet
        assert.lengthOf(
          older.events().filter(({ comment }) => comment === "keep-alive"),
          2,
        )
      }),
    ),
  )

  it.effect("continue after the last event that the client has; the call is not cancelled", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const { http, program } = client
        const headers = yield* client.open()
        const call = yield* stream(client, headers)
        yield* program.tell(0, "one")
        yield* program.tell(0, "two")
        yield* quiet
        const ids = idsOf(call)
        yield* call.disconnect
        yield* program.tell(0, "three")
        yield* program.respond(0, "done")
        assert.isFalse(program.received.some((text) => text.includes("cancelled")))
        const rest = yield* http.request("GET", { ...headers, "last-event-id": ids[1] ?? "" })
        yield* quiet
        assert.deepStrictEqual(
          dataOf(rest).map(({ params, result }) => params ?? result),
          ["two", "three", "done"].map((text) => ({ text })),
        )
        assert.isTrue(rest.isOver())
        const other = { ...(yield* client.open()), "last-event-id": ids[1] ?? "" }
        assert.strictEqual((yield* http.request("GET", other)).status, 400)
        const later = { ...headers, "last-event-id": "1-999" }
        assert.strictEqual((yield* http.request("GET", later)).status, 400)
        const unreadable = { ...headers, "last-event-id": "x" }
        assert.strictEqual((yield* http.request("GET", unreadable)).status, 400)
      }),
    ),
  )

  it.effect("continue where they were dropped before anything followed, each time", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const { http, program } = client
        for (const [index, revision] of ["2025-11-25", "2025-06-18"].entries()) {
          const headers = yield* client.open(revision)
          const call = yield* stream(client, headers)
          yield* program.tell(index, "one")
          yield* quiet
          let id = idsOf(call).at(-1) ?? ""
          yield* call.disconnect
          for (let drop = 0; drop < 3; drop++) {
            const silent = yield* http.request("GET", { ...headers, "last-event-id": id })
            yield* quiet
            assert.deepStrictEqual(idsOf(silent), [id])
            assert.deepStrictEqual(dataOf(silent), [])
            id = idsOf(silent).at(-1) ?? ""
            yield* silent.disconnect
          }
          yield* program.respond(index, "done")
          const rest = yield* http.request("GET", { ...headers, "last-event-id": id })
          yield* quiet
          assert.deepStrictEqual(
            dataOf(rest).map(({ result }) => result),
            [{ text: "done" }],
          )
        }
      }),
    ),
  )

  it.effect("that were received to their end are not continued: 204 ends the attempts", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const { http, program } = client
        const headers = yield* client.open()
        const answered = yield* stream(client, headers, 1)
        yield* program.respond(0, "done")
        const cancelled = yield* stream(client, headers, 2)
        const cancel = {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 2 },
        }
        yield* http.request("POST", headers, JSON.stringify(cancel))
        yield* quiet
        assert.isTrue(answered.isOver() && cancelled.isOver())
        for (const call of [answered, cancelled]) {
          const id = idsOf(call).at(-1) ?? ""
          const again = yield* http.request("GET", { ...headers, "last-event-id": id })
          assert.deepStrictEqual([again.status, again.text()], [204, ""])
        }
        const first = idsOf(answered)[0] ?? ""
        const whole = yield* http.request("GET", { ...headers, "last-event-id": first })
        yield* quiet
        assert.lengthOf(dataOf(whole), 1)
      }),
    ),
  )

  it.effect("are closed after the configured time, and continued where they ended", () =>
    withClient(
      (client) =>
        Effect.gen(function* () {
          const { http, program } = client
          const headers = yield* client.open()
          const call = yield* stream(client, headers)
          yield* TestClock.adjust("1 second")
          yield* quiet
          assert.isTrue(call.isOver())
          const [first] = call.events()
          assert.strictEqual(first?.retry, "1000")
          yield* program.respond(0, "done")
          const rest = yield* http.request("GET", {
            ...headers,
            "last-event-id": first?.id ?? "",
          })
          yield* quiet
          assert.deepStrictEqual(
            dataOf(rest).map(({ result }) => result),
            [{ text: "done" }],
          )
          const old = yield* client.open("2025-06-18")
          const lasting = yield* stream(client, old, 2)
          yield* TestClock.adjust("1 minute")
          yield* quiet
          assert.isFalse(lasting.isOver())
        }),
      { closeStreamsAfter: "1 second" },
    ),
  )

  it.effect("of the session have what belongs to no request, for one reader", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const { http, program } = client
        const headers = yield* client.open()
        const call = yield* stream(client, headers)
        const { connection } = program.waiting[0] ?? {}
        yield* Effect.orDie(connection?.send(['{"jsonrpc":"2.0","method":"m"}']) ?? Effect.void)
        const reading = yield* http.request("GET", headers)
        yield* quiet
        assert.deepStrictEqual(dataOf(reading), [{ jsonrpc: "2.0", method: "m" }])
        assert.deepStrictEqual(dataOf(call), [])
        assert.strictEqual((yield* http.request("GET", headers)).status, 409)
        yield* http.request("DELETE", headers)
        yield* quiet
        assert.isTrue(reading.isOver() && call.isOver())
      }),
    ),
  )

  it.effect("of the session begin at the last event that another reader took", () =>
    withClient((client) =>
      Effect.gen(function* () {
        const { http, program } = client
        const headers = yield* client.open()
        yield* stream(client, headers)
        const { connection } = program.waiting[0] ?? assert.fail("no request waits")
        const notify = (method: string) =>
          Effect.orDie(connection.send([`{"jsonrpc":"2.0","method":"${method}"}`]))
        const first = yield* http.request("GET", headers)
        yield* notify("one")
        yield* quiet
        yield* first.disconnect
        const second = yield* http.request("GET", headers)
        yield* quiet
        const [id = ""] = idsOf(second)
        assert.strictEqual(id, idsOf(first).at(-1))
        yield* second.disconnect
        yield* notify("two")
        const third = yield* http.request("GET", { ...headers, "last-event-id": id })
        yield* quiet
        assert.deepStrictEqual(
          dataOf(third).map(({ method }) => method),
          ["two"],
        )
      }),
    ),
  )
})

const newest = "2026-07-28"
const statelessHeaders: Headers = {
  ...both,
  "mcp-protocol-version": newest,
  "mcp-method": "wait",
}
const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": newest } }

describe("requests of 2026-07-28", () => {
  it.effect("must say the same in headers and body, and have no session", () =>
    withClient(({ http }) =>
      Effect.gen(function* () {
        const post = (more: Headers, method = "ping") =>
          http.request("POST", { ...statelessHeaders, ...more }, requestOf(1, method, meta))
        const fine = yield* post({ "mcp-method": "ping", "mcp-session-id": "ignored" })
        assert.strictEqual(fine.status, 200)
        assert.isUndefined(fine.headers["mcp-session-id"])
        const other = yield* post({ "mcp-method": "other" })
        assert.deepStrictEqual([other.status, errorOf(other).code], [400, -32020])
        assert.strictEqual((yield* http.request("GET", statelessHeaders)).status, 405)
        assert.strictEqual((yield* http.request("DELETE", statelessHeaders)).status, 405)
      }),
    ),
  )

  it.effect("are cancelled by a client that disconnects, and nothing is sent to it any more", () =>
    withClient(({ http, program }) =>
      Effect.gen(function* () {
        const post = yield* Effect.forkChild(
          http.request("POST", statelessHeaders, requestOf("a", "wait", meta)),
          { startImmediately: true },
        )
        yield* quiet
        yield* program.tell(0, "one")
        const call = yield* Fiber.join(post)
        yield* quiet
        assert.deepStrictEqual(
          dataOf(call).map(({ params }) => params),
          [{ text: "one" }],
        )
        assert.deepStrictEqual(idsOf(call), [])
        yield* call.disconnect
        yield* quiet
        assert.include(program.received.at(-1), '"notifications/cancelled"')
        assert.include(program.received.at(-1), '"requestId":"a"')
        yield* program.tell(0, "two")
        assert.lengthOf(dataOf(call), 1)
      }),
    ),
  )
})
