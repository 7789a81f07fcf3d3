import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { asking, exec, oneCall } from "../../../server/test/support/Asking.ts"
import { itemsOf, type PlainClient, withPlain } from "../support/PlainServer.ts"

const script = () => Script.reply(Script.text("hello there"))
const path = "/v1/conversations"

/** Creates a conversation and resolves with the path of its routes. */
const created = (client: PlainClient, headers?: Readonly<Record<string, string>>) =>
  Effect.map(client.request("POST", path, {}, headers), ({ body, status }) => {
    assert.strictEqual(status, 201, JSON.stringify(body))
    return `${path}/${String(body?.["conversationId"])}`
  })

describe("PlainRoutes", () => {
  it.effect("a list has the first message of each conversation, and those without one too", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const one = yield* created(client)
        const previews = Effect.map(client.request("GET", path), (listed) =>
          itemsOf(listed).map(({ preview }) => preview),
        )
        assert.deepStrictEqual(yield* previews, [""])
        for (const input of ["first words", "more words"]) {
          yield* client.request("POST", `${one}/turns?wait=true`, { input })
        }
        assert.deepStrictEqual(yield* previews, ["first words"])
      }),
    ),
  )

  it.effect("a conversation is created, listed, read, forked, archived and unarchived", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const one = yield* created(client)
        const state = yield* client.request("GET", one)
        assert.strictEqual(state.status, 200)
        assert.strictEqual(state.body?.["status"], "idle")
        assert.isNumber(state.body?.["nextSeq"])
        const listed = yield* client.request("GET", `${path}?limit=5`)
        assert.deepStrictEqual(
          itemsOf(listed).map(({ conversationId }) => `${path}/${conversationId}`),
          [one],
        )
        const fork = yield* client.request("POST", `${one}/fork`, { dropLastMessages: 0 })
        assert.strictEqual(fork.status, 201, JSON.stringify(fork.body))
        assert.notStrictEqual(fork.body?.["conversationId"], state.body?.["conversationId"])
        assert.strictEqual((yield* client.request("POST", `${one}/archive`)).status, 204)
        assert.strictEqual((yield* client.request("GET", one)).status, 409)
        assert.strictEqual((yield* client.request("POST", `${one}/unarchive`)).status, 204)
        assert.strictEqual((yield* client.request("GET", one)).status, 200)
        // It is in memory now, and not archived: nothing to do, and no other process to ask.
        const turn = yield* client.request("POST", `${one}/turns?wait=true`, { input: "hi" })
        assert.strictEqual(turn.status, 200, JSON.stringify(turn.body))
        assert.strictEqual((yield* client.request("POST", `${one}/unarchive`)).status, 204)
      }),
    ),
  )

  it.effect(
    "`turns` responds when the input is accepted, and with `wait` when its turn has ended",
    () =>
      withPlain(script, (client) =>
        Effect.gen(function* () {
          const one = yield* created(client)
          const waited = yield* client.request("POST", `${one}/turns?wait=true`, { input: "hi" })
          assert.strictEqual(waited.status, 200, JSON.stringify(waited.body))
          const { seq, ...end } = waited.body ?? {}
          assert.isNumber(seq)
          assert.deepStrictEqual(end, {
            turnId: "0",
            disposition: "started",
            status: "completed",
            lastAgentMessage: "hello there",
          })
          const sent = yield* client.request("POST", `${one}/turns`, {
            input: [{ type: "text", text: "again" }],
          })
          assert.strictEqual(sent.status, 202)
          assert.deepStrictEqual(sent.body, { turnId: "1", disposition: "started" })
        }),
      ),
  )

  it.effect("input that is sent again with its id is not run again, and its end is found", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const one = yield* created(client)
        const send = client.request("POST", `${one}/turns?wait=true`, {
          input: "hi",
          submissionId: "mine",
        })
        const first = yield* send
        assert.strictEqual(first.body?.["turnId"], "mine")
        assert.deepStrictEqual(yield* send, first)
      }),
    ),
  )

  it.effect("an interrupt responds with the end of the turn, and so does who waits for it", () =>
    withPlain(
      () => Script.reply(Script.hang),
      (client) =>
        Effect.gen(function* () {
          const one = yield* created(client)
          const waiting = yield* Effect.forkChild(
            client.request("POST", `${one}/turns?wait=true`, { input: "hi" }),
            { startImmediately: true },
          )
          yield* client.quiet
          const interrupted = yield* client.request("POST", `${one}/interrupt`)
          assert.deepStrictEqual(interrupted.body, { turnId: "0", abortReason: "interrupted" })
          const { body, status } = yield* Fiber.join(waiting)
          assert.strictEqual(status, 200)
          assert.strictEqual(body?.["status"], "aborted")
          assert.strictEqual(body?.["abortReason"], "interrupted")
          const idle = yield* client.request("POST", `${one}/interrupt`)
          assert.deepStrictEqual(idle.body, { abortReason: "interrupted" })
        }),
    ),
  )

  it.effect("L7 a pending question is listed and answered once", () => {
    const asked = asking([exec])
    return withPlain(
      oneCall,
      (client) =>
        Effect.gen(function* () {
          const one = yield* created(client)
          // Somebody who can answer is there: without, the question would be denied.
          yield* client.events(`${one}/events?answers=true`)
          const waiting = yield* Effect.forkChild(
            client.request("POST", `${one}/turns?wait=true`, { input: "hi" }),
            { startImmediately: true },
          )
          yield* client.quiet
          const listed = yield* client.request("GET", `${one}/questions`)
          const [question] = itemsOf(listed)
          assert.strictEqual(question?.msg.type, "exec_approval_request")
          assert.deepStrictEqual(question?.msg.command, ["touch", "made.txt"])
          const to = `${one}/questions/${String(question?.seq)}`
          const wrong = yield* client.request("POST", to, { action: "accept" })
          assert.strictEqual(wrong.status, 400)
          const answered = yield* client.request("POST", to, { decision: "approved" })
          assert.strictEqual(answered.status, 204, JSON.stringify(answered.body))
          assert.strictEqual((yield* Fiber.join(waiting)).body?.["lastAgentMessage"], "done")
          assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
          const late = yield* client.request("POST", to, { decision: "denied" })
          assert.strictEqual(late.status, 409)
          const none = yield* client.request("POST", `${one}/questions/999`, { decision: "denied" })
          assert.strictEqual(none.status, 404)
        }),
      asked.tools,
    )
  })

  it.effect("L7 a stream that does not declare that it answers gets no question put", () => {
    const asked = asking([exec])
    return withPlain(
      oneCall,
      (client) =>
        Effect.gen(function* () {
          const one = yield* created(client)
          yield* client.events(`${one}/events`)
          yield* client.request("POST", `${one}/turns?wait=true`, { input: "hi" })
          assert.strictEqual(asked.verdicts[0]?.decision, "denied")
        }),
      asked.tools,
    )
  })

  it.effect("what belongs to another principal is unknown, in every route", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const other = { "x-principal": "other" }
        const mine = yield* created(client)
        const theirs = yield* created(client, other)
        for (const [method, route, body] of [
          ["GET", "", undefined],
          ["POST", "/fork", {}],
          ["POST", "/archive", undefined],
          ["POST", "/unarchive", undefined],
          ["POST", "/turns", { input: "hi" }],
          ["POST", "/interrupt", undefined],
          ["GET", "/questions", undefined],
          ["POST", "/questions/1", { decision: "approved" }],
          ["GET", "/events", undefined],
        ] as const) {
          const unknown = `${path}/00000000-0000-7000-8000-000000000000`
          const foreign = yield* client.request(method, `${mine}${route}`, body, other)
          const missing = yield* client.request(method, `${unknown}${route}`, body, other)
          assert.strictEqual(foreign.status, 404, route)
          assert.strictEqual(foreign.body?.["code"], "not_found")
          assert.deepStrictEqual(
            JSON.stringify(foreign).replaceAll(mine.slice(path.length + 1), "ID"),
            JSON.stringify(missing).replaceAll(unknown.slice(path.length + 1), "ID"),
          )
        }
        const listed = yield* client.request("GET", path, undefined, other)
        assert.deepStrictEqual(
          itemsOf(listed).map(({ conversationId }) => `${path}/${conversationId}`),
          [theirs],
        )
      }),
    ),
  )

  it.effect("L13 bad input gets its status, a code, a message and the member at fault", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const one = yield* created(client)
        const cases = [
          ["POST", path, "{", 400, "invalid_request", undefined],
          ["POST", path, { model: 7 }, 400, "invalid_request", "model"],
          ["POST", path, { model: "" }, 400, "invalid_request", "model"],
          ["POST", path, { profile: " " }, 400, "invalid_request", "profile"],
          ["POST", path, { config: { sandbox_mode: 3 } }, 400, "invalid_request", "sandbox_mode"],
          ["POST", path, { sandbox: "none" }, 400, "invalid_request", "sandbox"],
          ["POST", path, { aprovalPolicy: "never" }, 400, "invalid_request", "aprovalPolicy"],
          ["GET", `${path}?archive=true`, undefined, 400, "invalid_request", "archive"],
          ["GET", `${path}?limit=ten`, undefined, 400, "invalid_request", "limit"],
          ["GET", `${path}/nonsense`, undefined, 400, "invalid_request", "id"],
          ["GET", `${path}?limit=0`, undefined, 400, "invalid_request", "limit"],
          ["GET", `${path}?cursor=x`, undefined, 400, "invalid_request", "cursor"],
          ["POST", `${one}/turns`, {}, 400, "invalid_request", "input"],
          ["POST", `${one}/turns`, { input: [] }, 400, "invalid_request", "input"],
          [
            "POST",
            `${one}/turns`,
            { input: "x", submissionId: "" },
            400,
            "invalid_request",
            "submissionId",
          ],
          [
            "POST",
            `${one}/turns`,
            { input: "x", submissionId: "x".repeat(1025) },
            400,
            "invalid_request",
            "submissionId",
          ],
          ["POST", `${one}/turns?wait=maybe`, { input: "x" }, 400, "invalid_request", "wait"],
          [
            "POST",
            `${one}/fork`,
            { dropLastMessages: 9 },
            400,
            "invalid_request",
            "dropLastMessages",
          ],
          ["GET", `${one}/events?after=99`, undefined, 400, "invalid_request", "after"],
          ["GET", `${one}/events?after=-2`, undefined, 400, "invalid_request", "after"],
          [
            "POST",
            `${one}/turns`,
            { input: "x", whileRunning: "steer" },
            409,
            "conflict",
            undefined,
          ],
        ] as const
        for (const [method, to, body, status, code, field] of cases) {
          const answer = yield* client.request(method, to, body)
          const seen = [answer.status, answer.body?.["code"], answer.body?.["field"]]
          assert.deepStrictEqual(seen, [status, code, field], JSON.stringify([to, answer.body]))
          assert.match(String(answer.body?.["message"]), /^.+$/)
        }
        const misspelt = yield* client.request("POST", path, { aprovalPolicy: "never" })
        assert.include(misspelt.body?.["message"], "did you mean `approvalPolicy`?")
        const typed = yield* client.request("POST", path, "x", { "content-type": "text/plain" })
        assert.strictEqual(typed.status, 415)
        assert.strictEqual(typed.contentType, "application/json")
        assert.strictEqual(typed.body?.["code"], "unsupported_media_type")
        assert.strictEqual((yield* client.request("GET", one)).status, 200)
      }),
    ),
  )

  it.effect("the OpenAPI document names every route and the errors", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const { body, status } = yield* client.request("GET", "/v1/openapi.json")
        assert.strictEqual(status, 200)
        const paths = body?.["paths"] as Readonly<Record<string, object>>
        assert.deepStrictEqual(
          Object.entries(paths).flatMap(([route, methods]) =>
            Object.keys(methods).map((method) => `${method} ${route}`),
          ),
          [
            `post ${path}`,
            `get ${path}`,
            `get ${path}/{id}`,
            `post ${path}/{id}/fork`,
            `post ${path}/{id}/archive`,
            `post ${path}/{id}/unarchive`,
            `post ${path}/{id}/turns`,
            `post ${path}/{id}/interrupt`,
            `get ${path}/{id}/questions`,
            `post ${path}/{id}/questions/{seq}`,
            `get ${path}/{id}/events`,
          ],
        )
        for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
          assert.deepStrictEqual(operation["security"], [{ token: [] }])
        }
        assert.deepInclude(body?.["components"], {
          securitySchemes: { token: { type: "http", scheme: "bearer" } },
        })
        assert.include(JSON.stringify(body), "text/event-stream")
        assert.include(JSON.stringify(body), "invalid_request")
      }),
    ),
  )
})

describe("PlainRoutes: events", () => {
  const numbers = (received: ReadonlyArray<{ readonly id?: number }>) =>
    received.flatMap(({ id }) => (id === undefined ? [] : [id]))

  it.effect(
    "L4 recorded events, one `synced`, live events; numbers without gaps, also after a reconnect",
    () =>
      withPlain(script, (client) =>
        Effect.gen(function* () {
          const one = yield* created(client)
          yield* client.request("POST", `${one}/turns?wait=true`, { input: "hi" })
          const first = yield* client.events(`${one}/events`)
          assert.strictEqual(first.status, 200)
          yield* client.quiet
          const replayed = numbers(first.received)
          assert.deepStrictEqual(
            replayed,
            Array.from(replayed, (_, i) => i),
          )
          assert.deepStrictEqual(
            first.received.flatMap(({ data, event }) => (event === "synced" ? [data] : [])),
            [{ seq: replayed.length }],
          )
          yield* first.disconnect
          yield* client.request("POST", `${one}/turns?wait=true`, { input: "again" })
          const last = replayed.at(-1) ?? 0
          // The header wins over the query, which a browser repeats as it was.
          const second = yield* client.events(`${one}/events?after=-1`, {
            "last-event-id": String(last),
          })
          yield* client.request("POST", `${one}/turns?wait=true`, { input: "and again" })
          yield* client.quiet
          const rest = numbers(second.received)
          assert.isAbove(rest.length, 2)
          assert.deepStrictEqual(
            rest,
            Array.from(rest, (_, i) => last + 1 + i),
          )
          const synced = second.received.findIndex(({ event }) => event === "synced")
          const live = second.received.slice(synced + 1)
          const types = live.map(
            ({ data }) => (data?.["msg"] as { type: string } | undefined)?.type,
          )
          assert.includeMembers(types, ["agent_message_delta", "agent_message", "task_complete"])
          // Only durable events have an id: a reconnect starts after the last of them.
          const delta = live[types.indexOf("agent_message_delta")]
          assert.isUndefined(delta?.id)
          assert.isNumber(delta?.data?.["seq"])
        }),
      ),
  )

  const mebibyte = Script.text("x".repeat(1024 * 1024))
  const long = Script.reply(mebibyte, mebibyte, mebibyte, mebibyte, mebibyte, mebibyte)

  it.effect(
    "L4 L6 a reader that stops gets `lagged`, then every durable event once; others do not wait",
    () =>
      withPlain(
        () => long,
        (client) =>
          Effect.gen(function* () {
            const one = yield* created(client)
            const room = Latch.makeUnsafe(true)
            const slow = yield* client.events(`${one}/events`, {}, room.await)
            const quick = yield* client.events(`${one}/events`)
            yield* client.quiet
            room.closeUnsafe()
            const turn = yield* client.request("POST", `${one}/turns?wait=true`, { input: "hi" })
            assert.strictEqual(turn.status, 200)
            yield* client.quiet
            const all = numbers(quick.received)
            assert.isAbove(all.length, 10)
            assert.isBelow(numbers(slow.received).length, all.length)
            room.openUnsafe()
            yield* client.quiet
            assert.deepStrictEqual(numbers(slow.received), all)
            assert.deepStrictEqual(
              all,
              Array.from(all, (_, i) => i),
            )
            const marks = slow.received.flatMap(({ event }) =>
              event === "lagged" || event === "synced" ? [event] : [],
            )
            assert.deepStrictEqual(marks, ["synced", "lagged", "synced"])
          }),
      ),
  )

  it.effect("a quiet stream gets a comment every 15 seconds", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const one = yield* created(client)
        const stream = yield* client.events(`${one}/events?after=0`)
        yield* client.quiet
        const before = stream.received.length
        yield* TestClock.adjust("1 hour")
        yield* client.quiet
        const comments = stream.received.slice(before)
        assert.deepStrictEqual(
          comments.map(({ comment }) => comment),
          Array.from({ length: 240 }, () => "keep-alive"),
        )
      }),
    ),
  )

  it.effect("the stream ends with a reason when its conversation ends", () =>
    withPlain(script, (client) =>
      Effect.gen(function* () {
        const one = yield* created(client)
        const stream = yield* client.events(`${one}/events`)
        yield* client.request("POST", `${one}/archive`)
        yield* client.quiet
        assert.strictEqual(stream.received.at(-1)?.event, "ended")
        assert.isTrue(stream.isOver())
      }),
    ),
  )
})
