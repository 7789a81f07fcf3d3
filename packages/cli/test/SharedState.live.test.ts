/** Several servers of one state directory: the built program, sockets and files. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { WebSocket } from "@effect/platform-node/NodeWS"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home as makeHome } from "./support/Home.ts"
import { type HttpProcess, request, startHttp } from "./support/HttpProcess.ts"

interface Member {
  readonly server: HttpProcess
  readonly url: string
}

const start = Effect.fnUntraced(function* (home: string, ...args: ReadonlyArray<string>) {
  const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0", ...args])
  return { server, url: yield* server.url } satisfies Member
})

/** Two servers of a new state directory, and a conversation that the first one has. */
const two = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const home = yield* makeHome()
  const owner = yield* start(home, ...args)
  const other = yield* start(home)
  const token = readFileSync(`${home}/http-token`, "utf8").trim()
  const created = yield* request(`${owner.url}/v1/conversations`, { token, json: {} })
  const { conversationId } = JSON.parse(created.text) as { readonly conversationId: string }
  return { home, owner, other, token, conversationId, path: `/v1/conversations/${conversationId}` }
})

interface InUse {
  readonly code: string
  readonly message: string
  readonly owner: { readonly pid: number; readonly host: string; readonly url?: string }
}

const turn = (json: object, token: string) => ({ token, json, redirect: "manual" as const })

/** Sends messages over a WebSocket and resolves with the response to the last one. */
const responseTo = (url: string, token: string, messages: ReadonlyArray<object>) =>
  Effect.callback<{ readonly error?: { readonly message: string; readonly data?: unknown } }>(
    (resume) => {
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
      socket.on("open", () => {
        for (const message of messages) socket.send(JSON.stringify(message))
      })
      socket.on("message", (data) => {
        const message = JSON.parse((data as Buffer).toString("utf8"))
        if (message.id === messages.length) resume(Effect.succeed(message))
      })
      return Effect.sync(() => socket.terminate())
    },
  )

/** A stream of events that is read as it arrives. */
const following = Effect.fnUntraced(function* (url: string, token: string, lastEventId?: string) {
  let received = ""
  const waiting = new Map<string, Deferred.Deferred<void>>()
  yield* Effect.forkScoped(
    request(
      url,
      {
        token,
        ...(lastEventId === undefined ? {} : { headers: { "last-event-id": lastEventId } }),
      },
      (text) => {
        received = text
        for (const [wanted, found] of waiting)
          if (text.includes(wanted)) Deferred.doneUnsafe(found, Effect.void)
      },
    ).pipe(Effect.ignoreCause),
    { startImmediately: true },
  )
  return {
    /** Resolves once the text has arrived. */
    until: (wanted: string) =>
      Effect.suspend(() => {
        const found = Deferred.makeUnsafe<void>()
        waiting.set(wanted, found)
        return received.includes(wanted) ? Effect.void : Deferred.await(found)
      }),
    ids: () => [...received.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
  }
})

describe("several servers of one state directory", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live("send a client to the server that has its conversation", () =>
    Effect.gen(function* () {
      const { other, owner, path, token } = yield* two()
      const sent = yield* request(
        `${other.url}${path}/turns?wait=true`,
        turn({ input: "hi" }, token),
      )
      assert.strictEqual(sent.status, 307, sent.text)
      assert.strictEqual(sent.headers.get("location"), `${owner.url}${path}/turns?wait=true`)
      const followed = yield* request(
        sent.headers.get("location") ?? "",
        turn({ input: "hi" }, token),
      )
      assert.strictEqual(followed.status, 200, followed.text)
    }),
  )

  it.live("name the process where it publishes no address, in every dialect", () =>
    Effect.gen(function* () {
      const { conversationId, other, owner, path, token } = yield* two(
        "-c",
        'http.authentication="token"',
        "-c",
        "http.tls_by_proxy=true",
      )
      const sent = yield* request(`${other.url}${path}/turns`, turn({ input: "hi" }, token))
      assert.strictEqual(sent.status, 409, sent.text)
      const body = JSON.parse(sent.text) as InUse
      assert.strictEqual(body.code, "in_use")
      assert.strictEqual(body.owner.pid, owner.server.pid)
      assert.notProperty(body.owner, "url")
      assert.include(body.message, `in use by process ${owner.server.pid} on ${body.owner.host}`)

      const experimental = {
        clientInfo: { name: "test", version: "1" },
        capabilities: { experimentalApi: true },
      }
      const v1 = { conversationId }
      const v2 = { threadId: conversationId }
      const calls: ReadonlyArray<readonly [method: string, params: object]> = [
        ["getConversation", v1],
        ["archiveConversation", v1],
        ["forkConversation", v1],
        ["thread/archive", v2],
        ["thread/delete", v2],
        ["thread/fork", v2],
        ["thread/resume", v2],
        ["thread/settings/update", v2],
        ["turn/start", { ...v2, input: [] }],
      ]
      for (const [method, params] of calls) {
        const { error } = yield* responseTo(`${other.url.replace("http", "ws")}/ws`, token, [
          { id: 1, method: "initialize", params: experimental },
          { id: 2, method, params },
        ])
        assert.deepStrictEqual(error?.data, { reason: "in_use", owner: body.owner }, method)
      }

      const called = yield* request(`${other.url}/mcp`, {
        token,
        headers: {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "codex-reply",
        },
        json: {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "codex-reply",
            arguments: { threadId: conversationId, prompt: "hi" },
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        },
      })
      assert.include(called.text, '"isError":true')
      assert.include(called.text, `"colloquy/owner":{"pid":${owner.server.pid}`)
    }),
  )

  it.live("L16 take the conversations of one that was killed", () =>
    Effect.gen(function* () {
      const { other, owner, path, token } = yield* two()
      yield* owner.server.kill("SIGKILL")
      yield* owner.server.exit
      const sent = yield* request(
        `${other.url}${path}/turns?wait=true`,
        turn({ input: "hi" }, token),
      )
      assert.strictEqual(sent.status, 200, sent.text)
    }),
  )

  it.live(
    "L4 follow a conversation of another one in its log, and take it over once that one was killed",
    () =>
      Effect.gen(function* () {
        const { other, owner, path, token } = yield* two()
        const stream = yield* following(`${other.url}${path}/events`, token)
        for (const input of ["say one", "say two", "say three"]) {
          const { text } = yield* request(
            `${owner.url}${path}/turns?wait=true`,
            turn({ input }, token),
          )
          yield* stream.until(`id: ${(JSON.parse(text) as { readonly seq: number }).seq}\n`)
        }
        const read = yield* request(`${other.url}${path}`, { token, redirect: "manual" })
        assert.strictEqual(read.status, 200, read.text)
        const { nextSeq } = JSON.parse(read.text) as { readonly nextSeq: number }
        assert.deepStrictEqual(
          stream.ids(),
          Array.from({ length: nextSeq }, (_, n) => n),
        )

        // A client that has seen some of it on the one server continues on the other one.
        const continued = yield* following(`${other.url}${path}/events`, token, "5")
        yield* continued.until(`id: ${nextSeq - 1}\n`)
        assert.strictEqual(continued.ids()[0], 6)

        yield* request(`${owner.url}${path}/turns`, turn({ input: "run: sleep 60" }, token))
        yield* stream.until('"exec_command_begin"')
        yield* owner.server.kill("SIGKILL")
        yield* owner.server.exit
        yield* stream.until('"turn_aborted"')
        const sent = yield* request(
          `${other.url}${path}/turns?wait=true`,
          turn({ input: "hi" }, token),
        )
        assert.strictEqual(sent.status, 200, sent.text)
        const { seq } = JSON.parse(sent.text) as { readonly seq: number }
        yield* stream.until(`id: ${seq}\n`)
        assert.deepStrictEqual(
          stream.ids(),
          Array.from({ length: seq + 1 }, (_, n) => n),
        )
      }),
    60_000,
  )
})
