import {
  ModelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
} from "@colloquy/core/ModelClient"
import type { ProviderScript, ProviderStep } from "@colloquy/testing/ProviderScript"
import * as MemoryProvider from "@colloquy/testing/MemoryProvider"
import {
  bareDeltas,
  delay,
  deltas,
  drop,
  end,
  event,
  garbage,
  hang,
  oversized,
  raw,
  reasoning,
  refuse,
  reply,
  silence,
  status,
  text,
  tooManyRequests,
  toolCall,
} from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as HttpModel from "../src/HttpModel.ts"
import { decodeStream } from "./support/Bodies.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"
import { assistant, call, conversationId, provider, request, usage } from "./support/Requests.ts"

const prefix = "stream disconnected before completion: "
const completed: ModelEvent = { _tag: "Completed", usage }

interface Outcome {
  readonly events: ReadonlyArray<ModelEvent>
  readonly error?: ModelError
  /** Requests that the provider received. */
  readonly requests: number
  /** Virtual time from start to end, in milliseconds. */
  readonly tookMs: number
}

/** Sends one request and lets a virtual hour pass. */
const ask = (script: ProviderScript, asked: ModelRequest, maxEventSize?: number) =>
  Effect.gen(function* () {
    const mock = yield* MemoryProvider.make(script)
    const client = yield* Effect.provide(HttpClient.HttpClient, mock.layer)
    const model = yield* HttpModel.make(client, maxEventSize === undefined ? {} : { maxEventSize })
    const events: Array<ModelEvent> = []
    const collected = Stream.runForEachArray(model.stream(asked), (array) =>
      Effect.sync(() => events.push(...array)),
    )
    const fiber = yield* Effect.forkChild(
      Effect.gen(function* () {
        const exit = yield* Effect.exit(collected)
        return { exit, now: yield* Clock.currentTimeMillis }
      }),
    )
    yield* TestClock.adjust("1 hour")
    const { exit, now } = yield* Fiber.join(fiber)
    const seen = yield* mock.requests
    const outcome: Outcome = { events, requests: seen.length, tookMs: now }
    if (Exit.isSuccess(exit)) return outcome
    const error = Cause.findErrorOption(exit.cause)
    return error._tag === "Some"
      ? { ...outcome, error: error.value }
      : yield* Effect.die(exit.cause)
  })

const asking = (
  overrides: Parameters<typeof provider>[1],
  wire: "responses" | "chat" = "responses",
) => request({ provider: provider(wire, overrides) })
const retrying = asking({ requestMaxRetries: 2 })
const failure = ({ error, requests, tookMs }: Outcome): Readonly<Record<string, unknown>> => ({
  message: error?.message,
  reason: error?.reason,
  retryable: error?.retryable,
  requests,
  tookMs,
})

describe("HttpModel answers", () => {
  it.effect("has the events of the original's recording `reasoning`, on the Responses wire", () =>
    Effect.gen(function* () {
      const script = [
        reply(
          reasoning(["**Thinking** ", "about ", "it"], ["Second ", "part"]),
          deltas("Reasoned ", "answer."),
        ),
      ]
      const { events, error } = yield* ask(script, request())
      const expected: ReadonlyArray<ModelEvent> = [
        { _tag: "ReasoningSectionBreak" },
        { _tag: "ReasoningDelta", delta: "**Thinking** " },
        { _tag: "ReasoningDelta", delta: "about " },
        { _tag: "ReasoningDelta", delta: "it" },
        { _tag: "ReasoningSectionBreak" },
        { _tag: "ReasoningDelta", delta: "Second " },
        { _tag: "ReasoningDelta", delta: "part" },
        {
          _tag: "ItemDone",
          item: {
            type: "reasoning",
            summary: [
              { type: "summary_text", text: "**Thinking** about it" },
              { type: "summary_text", text: "Second part" },
            ],
            encrypted_content: "sealed",
          },
        },
        { _tag: "TextDelta", delta: "Reasoned " },
        { _tag: "TextDelta", delta: "answer." },
        { _tag: "ItemDone", item: assistant("Reasoned answer.") },
        completed,
      ]
      assert.deepStrictEqual({ events, error }, { events: expected, error: undefined })
    }),
  )

  it.effect(
    "has both messages of the original's recording `two_messages`, and none of `empty_answer`",
    () =>
      Effect.gen(function* () {
        const script = [reply(text("first message"), text("second message"))]
        const two = yield* ask(script, request())
        const expected: ReadonlyArray<ModelEvent> = [
          { _tag: "TextDelta", delta: "first message" },
          { _tag: "ItemDone", item: assistant("first message") },
          { _tag: "TextDelta", delta: "second message" },
          { _tag: "ItemDone", item: assistant("second message") },
          completed,
        ]
        assert.deepStrictEqual(two.events, expected)
        assert.deepStrictEqual((yield* ask([reply()], request())).events, [completed])
        assert.deepStrictEqual((yield* ask([reply()], asking({}, "chat"))).events, [completed])
      }),
  )

  it.effect("has text, several calls and usage on the chat wire", () =>
    Effect.gen(function* () {
      const script = [
        reply(deltas("Let ", "me."), toolCall("shell", { n: 1 }, "a"), toolCall("shell", {}, "b")),
      ]
      const { events, error } = yield* ask(script, asking({}, "chat"))
      const expected: ReadonlyArray<ModelEvent> = [
        { _tag: "TextDelta", delta: "Let " },
        { _tag: "TextDelta", delta: "me." },
        { _tag: "ItemDone", item: assistant("Let me.") },
        { _tag: "ItemDone", item: call("a", "shell", '{"n":1}') },
        { _tag: "ItemDone", item: call("b") },
        completed,
      ]
      assert.deepStrictEqual({ events, error }, { events: expected, error: undefined })
    }),
  )

  it.effect("decodes the same events when the bytes arrive one by one", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode(
        'data: {"type":"response.output_text.delta","delta":"a\u00e9\u{1F600}"}\r\n\r\n: comment\n\n' +
          'retry: 10\n\ndata: {"type":"response.completed","response":{"usage":null}}\n\n',
      )
      const body = Stream.rechunk(Stream.fromIterable(bytes), 1)
      const events = yield* Stream.runCollect(
        decodeStream(
          Stream.map(body, (byte) => Uint8Array.of(byte)),
          ResponsesWire.makeDecoder(),
          {
            idleTimeout: Duration.minutes(5),
            provider: "mock",
            maxEventBytes: 1000,
            maxResponseBytes: 10_000,
          },
        ),
      )
      assert.deepStrictEqual(events, [
        { _tag: "TextDelta", delta: "a\u00e9\u{1F600}" },
        { _tag: "ItemDone", item: assistant("a\u00e9\u{1F600}") },
        { _tag: "Completed" },
      ])
    }),
  )

  it.effect("accepts a last event that lacks its blank line", () =>
    Effect.gen(function* () {
      const last = raw('data: {"type":"response.completed","response":{}}')
      const { events, error } = yield* ask([reply(last, end)], request())
      assert.deepStrictEqual(
        { events, error },
        { events: [{ _tag: "Completed" }], error: undefined },
      )
    }),
  )

  it.effect("waits at most half a second for the rest of a complete answer", () =>
    Effect.gen(function* () {
      const done = event({ type: "response.completed", response: {} })
      const finished = event({ choices: [{ delta: { content: "x" }, finish_reason: "stop" }] })
      const one = yield* ask([reply(done, hang)], request())
      assert.deepStrictEqual(one, { events: [{ _tag: "Completed" }], requests: 1, tookMs: 500 })
      const other = yield* ask([reply(finished, hang)], asking({}, "chat"))
      assert.deepStrictEqual(other.events.at(-1), { _tag: "Completed" })
    }),
  )

  it.effect.each(["responses", "chat"] as const)(
    "report in their last event, on the %s wire, how much of the provider's limits is used",
    (wire) =>
      Effect.gen(function* () {
        const lines =
          wire === "chat"
            ? `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`
            : `data: ${JSON.stringify({ type: "response.completed", response: { id: "r" } })}\n\n`
        const limited = status(200, {
          headers: { "x-codex-primary-used-percent": "12", "x-codex-primary-window-minutes": "5" },
          body: lines,
        })
        const { events } = yield* ask([limited], request({ provider: provider(wire) }))
        const rateLimits = { primary: { used_percent: 12, window_minutes: 5 }, secondary: null }
        assert.deepStrictEqual(events, [{ _tag: "Completed", rateLimits }])
      }),
  )
})

describe("HttpModel requests", () => {
  const seen = (
    asked: ModelRequest,
    env: Record<string, string> = {},
    options: HttpModel.HttpModelOptions = {},
  ) =>
    Effect.gen(function* () {
      const mock = yield* MemoryProvider.make(() => reply(text("ok")))
      const client = yield* Effect.provide(HttpClient.HttpClient, mock.layer)
      yield* Stream.runDrain((yield* HttpModel.make(client, options)).stream(asked))
      return (yield* mock.requests)[0]
    }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))))

  it.effect(
    "carry the headers of the Responses wire, the API key and the provider's own headers",
    () =>
      Effect.gen(function* () {
        const asked = asking({
          baseUrl: "http://mock.test/v1/",
          envKey: "KEY",
          queryParams: { "api-version": "2" },
          httpHeaders: { "X-Team": "blue" },
          envHttpHeaders: { "X-Org": "ORG", "X-Unset": "UNSET", "X-Blank": "BLANK" },
        })
        const found = yield* seen(asked, { KEY: " s3cret\n", ORG: "acme", BLANK: "  " })
        assert.strictEqual(found?.url, "http://mock.test/v1/responses?api-version=2")
        assert.deepStrictEqual(found?.headers, {
          accept: "text/event-stream",
          authorization: "Bearer s3cret",
          "content-length": String(found?.headers["content-length"]),
          "content-type": "application/json",
          conversation_id: conversationId,
          "openai-beta": "responses=experimental",
          originator: "colloquy",
          session_id: conversationId,
          "user-agent": "colloquy/0.1.0",
          "x-org": "acme",
          "x-team": "blue",
        })
      }),
  )

  it.effect("carry no session headers on the chat wire, and no key where none is set", () =>
    Effect.gen(function* () {
      const found = yield* seen(asking({ envKey: "KEY", keyOptional: true }, "chat"))
      assert.strictEqual(found?.url, "http://mock.test/v1/chat/completions")
      assert.deepStrictEqual(Object.keys(found?.headers ?? {}).toSorted(), [
        "accept",
        "content-length",
        "content-type",
        "user-agent",
      ])
    }),
  )

  it.effect(
    "carry the bearer token of the settings, after the environment and before a stored key",
    () =>
      Effect.gen(function* () {
        const bearerToken = Redacted.make("the token")
        const findKey: HttpModel.FindKey = () => Effect.succeed({ key: Redacted.make("stored") })
        const sent = (overrides: Parameters<typeof asking>[0], environment = {}) =>
          Effect.map(
            seen(asking({ bearerToken, ...overrides }), environment, { findKey }),
            (found) => found?.headers["authorization"],
          )
        assert.deepStrictEqual(
          [
            yield* sent({}),
            yield* sent({ envKey: "KEY" }),
            yield* sent({ envKey: "KEY" }, { KEY: "variable" }),
          ],
          ["Bearer the token", "Bearer the token", "Bearer variable"],
        )
      }),
  )

  it.effect("L13 never quote the bearer token, even where a provider repeats it", () =>
    Effect.gen(function* () {
      const token = (text: string) => asking({ bearerToken: Redacted.make(text) })
      const echoed = yield* ask(() => status(400, { body: "bad tok-s3cret" }), token("tok-s3cret"))
      assert.strictEqual(echoed.error?.message, "unexpected status 400 Bad Request: bad <redacted>")
      const bad = yield* ask(() => status(400, {}), token("tok\ns3cret"))
      assert.strictEqual(
        bad.error?.message,
        "model provider `mock`: `experimental_bearer_token` is empty or holds characters that a header cannot carry",
      )
    }),
  )

  it.effect("put the path before the query of the address, on either wire", () =>
    Effect.gen(function* () {
      for (const baseUrl of ["http://mock.test/v1?a=b#c", "http://mock.test/v1/?a=b"]) {
        const urls = [
          yield* seen(asking({ baseUrl })),
          yield* seen(asking({ baseUrl, queryParams: { d: "e" } }, "chat")),
        ]
        assert.deepStrictEqual(
          urls.map((found) => found?.url),
          ["http://mock.test/v1/responses?a=b", "http://mock.test/v1/chat/completions?a=b&d=e"],
        )
      }
    }),
  )

  it.effect("carry a stored key, to the address it is valid for, after the environment", () =>
    Effect.gen(function* () {
      const asked = asking({ baseUrl: "http://mock.test/v1", envKey: "KEY" })
      const findKey: HttpModel.FindKey = ({ id }) =>
        Effect.succeed({
          key: Redacted.make(`kept for ${id}`),
          baseUrl: "http://kept.test/codex/",
          headers: { "x-account": "a" },
        })
      const kept = yield* seen(asked, {}, { findKey })
      assert.deepStrictEqual(
        [kept?.url, kept?.headers["authorization"], kept?.headers["x-account"]],
        ["http://kept.test/codex/responses", `Bearer kept for ${asked.provider.id}`, "a"],
      )
      const set = yield* seen(asked, { KEY: "own" }, { findKey })
      assert.deepStrictEqual(
        [set?.url, set?.headers["authorization"], set?.headers["x-account"]],
        ["http://mock.test/v1/responses", "Bearer own", undefined],
      )
      const none = yield* seen(asking({ baseUrl: "http://mock.test/v1" }), {}, { findKey })
      assert.isUndefined(none?.headers["authorization"])
    }),
  )

  it.effect(
    "are not sent without the key the provider needs, or with one that no header can carry",
    () =>
      Effect.gen(function* () {
        const asked = asking({
          envKey: "KEY",
          envKeyInstructions: "Get one.",
          requestMaxRetries: 2,
        })
        const bare = asking({ envKey: "KEY" })
        const withKey = (env: Record<string, string>, what: ModelRequest) =>
          ask([], what).pipe(
            Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))),
            Effect.map(failure),
          )
        const settingsFault = { reason: "Key", retryable: false, requests: 0, tookMs: 0 }
        const missing = "Missing environment variable: `KEY`."
        assert.deepStrictEqual(yield* withKey({}, asked), {
          ...settingsFault,
          message: `${missing} Get one.`,
        })
        assert.deepStrictEqual(yield* withKey({ KEY: " " }, bare), {
          ...settingsFault,
          message: missing,
          tookMs: 3_600_000,
        })
        assert.deepStrictEqual(yield* withKey({ KEY: "se\ncret" }, bare), {
          ...settingsFault,
          message: "Environment variable `KEY` holds characters that a header cannot carry.",
          tookMs: 7_200_000,
        })
      }),
  )

  it.effect("are not sent to an address that is not a URL", () =>
    Effect.gen(function* () {
      const outcome = yield* ask([], asking({ baseUrl: "not a url", requestMaxRetries: 2 }))
      assert.deepStrictEqual(failure(outcome), {
        message: "model provider `mock`: `base_url` is not a valid URL",
        reason: "Request",
        retryable: false,
        requests: 0,
        tookMs: 0,
      })
    }),
  )
})

describe("HttpModel settings", () => {
  it.effect.each<readonly [settings: Partial<ModelProvider>, problem: string]>([
    [{ baseUrl: "file:///etc/passwd" }, "`base_url` is neither an http nor an https URL"],
    [{ httpHeaders: { "bad\nname": "x" } }, "`http_headers` names what is no header"],
    [{ httpHeaders: { "": "x" } }, "`http_headers` names what is no header"],
    [
      { httpHeaders: { fine: "x", "x-key": "sec\r\nret: 1" } },
      "`http_headers.x-key` holds characters that a header cannot carry",
    ],
    [{ envHttpHeaders: { "bad name": "X" } }, "`env_http_headers` names what is no header"],
  ])(
    "L13 settings that no request can be made of are reported without their value: %o",
    ([settings, problem]) =>
      Effect.gen(function* () {
        const outcome = yield* ask([], asking({ ...settings, requestMaxRetries: 2 }))
        assert.deepStrictEqual(failure(outcome), {
          message: `model provider \`mock\`: ${problem}`,
          reason: "Request",
          retryable: false,
          requests: 0,
          tookMs: 0,
        })
      }),
  )
})

describe("HttpModel retries of the request", () => {
  it.effect("continue until a response arrives, after growing delays", () =>
    Effect.gen(function* () {
      const outcome = yield* ask([status(500), status(503), reply(text("ok"))], retrying)
      assert.deepStrictEqual([outcome.events.at(-1), outcome.requests], [completed, 3])
      // 200 and 400 ms, each multiplied by a factor in [0.9, 1.1).
      assert.isAtLeast(outcome.tookMs, 540)
      assert.isBelow(outcome.tookMs, 660)
    }),
  )

  it.effect("wait as long as the provider says, in seconds or until a date", () =>
    Effect.gen(function* () {
      const date = "Thu, 01 Jan 1970 00:00:10 GMT"
      const outcome = yield* ask(
        [tooManyRequests(7), tooManyRequests(date), reply(text("ok"))],
        retrying,
      )
      assert.deepStrictEqual(
        [outcome.events.at(-1), outcome.requests, outcome.tookMs],
        [completed, 3, 10_000],
      )
    }),
  )

  it.effect("do not wait for more than a minute but name the delay", () =>
    Effect.gen(function* () {
      const outcome = yield* ask([tooManyRequests(3600)], retrying)
      assert.deepStrictEqual(failure(outcome), {
        message:
          "exceeded retry limit, last status: 429 Too Many Requests (the provider asks to wait 3600 s)",
        reason: "RetryLimit",
        retryable: false,
        requests: 1,
        tookMs: 0,
      })
      assert.strictEqual(outcome.error?.retryAfterMs, 3_600_000)
    }),
  )

  it.effect("end with the texts of the original's recordings `model_429` and `model_500`", () =>
    Effect.gen(function* () {
      const none = { reason: "RetryLimit", retryable: true, requests: 1, tookMs: 0 }
      const busy = yield* ask([tooManyRequests()], request())
      assert.deepStrictEqual(failure(busy), {
        ...none,
        message: "exceeded retry limit, last status: 429 Too Many Requests",
      })
    }),
  )

  it.effect("end with the fixed sentence for 500 on the Responses wire only", () =>
    Effect.gen(function* () {
      const texts: Array<unknown> = []
      for (const [code, wire] of [
        [500, "responses"],
        [503, "responses"],
        [500, "chat"],
      ] as const) {
        const { error, requests } = yield* ask(
          () => status(code),
          asking({ requestMaxRetries: 1 }, wire),
        )
        texts.push([error?.message, error?.retryable, requests])
      }
      assert.deepStrictEqual(texts, [
        ["We're currently experiencing high demand, which may cause temporary errors.", true, 2],
        ["exceeded retry limit, last status: 503 Service Unavailable", true, 2],
        ["exceeded retry limit, last status: 500 Internal Server Error", true, 2],
      ])
    }),
  )

  it.effect("state the delay that the provider requested in the last error", () =>
    Effect.gen(function* () {
      const { error } = yield* ask([tooManyRequests(5)], request())
      assert.strictEqual(error?.retryAfterMs, 5000)
    }),
  )

  it.effect("are made for a lost connection, without the query of the URL in the error", () =>
    Effect.gen(function* () {
      const asked = asking({ requestMaxRetries: 1, queryParams: { key: "s3cret" } })
      const outcome = yield* ask(() => refuse, asked)
      assert.deepStrictEqual(
        { ...failure(outcome), tookMs: undefined },
        {
          message: `${prefix}error sending request for url (http://mock.test/v1/responses)`,
          reason: "Transport",
          retryable: true,
          requests: 2,
          tookMs: undefined,
        },
      )
      const recovered = yield* ask([refuse, reply(text("ok"))], retrying)
      assert.deepStrictEqual(recovered.events.at(-1), completed)
    }),
  )

  it.effect("are made once for 401 on the Responses wire, never on chat", () =>
    Effect.gen(function* () {
      const unauthorized = status(401, { body: "bad key" })
      const message = "unexpected status 401 Unauthorized: bad key"
      const results: Array<unknown> = []
      for (const wire of ["responses", "chat"] as const) {
        const { error, requests } = yield* ask(
          () => unauthorized,
          asking({ requestMaxRetries: 4 }, wire),
        )
        results.push([error?.message, error?.retryable, requests])
      }
      assert.deepStrictEqual(results, [
        [message, false, 2],
        [message, false, 1],
      ])
    }),
  )

  it.effect("are not made for other statuses; 408 is left to the turn", () =>
    Effect.gen(function* () {
      const results: Array<unknown> = []
      for (const code of [400, 404, 408, 307]) {
        const { error, requests } = yield* ask(() => status(code, { body: "why" }), retrying)
        results.push([error?.message, error?.retryable, error?.status, requests])
      }
      assert.deepStrictEqual(results, [
        ["unexpected status 400 Bad Request: why", false, 400, 1],
        ["unexpected status 404 Not Found: why", false, 404, 1],
        ["unexpected status 408 Request Timeout: why", true, 408, 1],
        ["unexpected status 307 Temporary Redirect: why", false, 307, 1],
      ])
    }),
  )

  it.effect("are not made when the quota is used up", () =>
    Effect.gen(function* () {
      const body = '{"error":{"type":"insufficient_quota","message":"No more."}}'
      const outcome = yield* ask(() => status(429, { body }), retrying)
      assert.deepStrictEqual(failure(outcome), {
        message:
          "Quota exceeded. Check the plan and the billing details of the account with the model provider.",
        reason: "Status",
        retryable: false,
        requests: 1,
        tookMs: 0,
      })
    }),
  )

  it.effect("quote 2048 characters of an error's body and never the key", () =>
    Effect.gen(function* () {
      const body = `key s3cret-key is bad ${"x".repeat(5000)}`
      const { error } = yield* ask(() => status(400, { body }), asking({ envKey: "KEY" })).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ KEY: "s3cret-key" }))),
      )
      const quoted = (error?.message ?? "").replace("unexpected status 400 Bad Request: ", "")
      assert.strictEqual(quoted.length, 2048)
      assert.isTrue(quoted.startsWith("key <redacted> is bad xxx"))
      const cut = yield* ask(
        () => status(400, { body: `${"x".repeat(2040)}s3cret-key` }),
        asking({ envKey: "KEY" }),
      ).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ KEY: "s3cret-key" }))),
      )
      assert.notInclude(cut.error?.message, "s3cr")
    }),
  )
})

describe("HttpModel streams that fail", () => {
  const cases: ReadonlyArray<
    readonly [name: string, steps: ReadonlyArray<ProviderStep>, message: string, tookMs: number]
  > = [
    [
      "end early",
      [bareDeltas("par", "tial"), end],
      `${prefix}stream closed before response.completed`,
      0,
    ],
    [
      "end inside an event",
      [bareDeltas("par", "tial"), raw('data: {"type":"respo'), end],
      `${prefix}stream closed before response.completed`,
      0,
    ],
    [
      "break off (as in the recording `model_drop` of the original)",
      [bareDeltas("par", "tial"), drop],
      `${prefix}Transport error: error decoding response body`,
      0,
    ],
    [
      "fall silent",
      [bareDeltas("par", "tial"), hang],
      `${prefix}idle timeout waiting for SSE`,
      300_000,
    ],
    [
      "bring only comments",
      [
        bareDeltas("par", "tial"),
        ...Array.from({ length: 10 }, () => [delay("100 seconds"), raw(": ping\n\n")]).flat(),
      ],
      `${prefix}idle timeout waiting for SSE`,
      300_000,
    ],
    [
      "bring garbage in place of the answer",
      [bareDeltas("par", "tial"), garbage],
      `${prefix}the answer could not be read: skipped an event of 9 characters that is not JSON`,
      0,
    ],
  ]
  for (const [name, steps, message, tookMs] of cases) {
    it.effect(`deliver earlier events and a retryable error when they ${name}`, () =>
      Effect.gen(function* () {
        const outcome = yield* ask([reply(...steps)], asking({ requestMaxRetries: 4 }))
        assert.deepStrictEqual(outcome.events, [
          { _tag: "TextDelta", delta: "par" },
          { _tag: "TextDelta", delta: "tial" },
        ])
        assert.deepStrictEqual(
          [outcome.error?.message, outcome.error?.retryable, outcome.requests, outcome.tookMs],
          [message, true, 1, tookMs],
        )
      }),
    )
  }

  it.effect("continue as long as an event arrives within the timeout", () =>
    Effect.gen(function* () {
      const slow = Array.from({ length: 5 }, () => [
        delay("299 seconds"),
        event({ type: "response.in_progress" }),
      ]).flat()
      const outcome = yield* ask([reply(...slow, text("ok"))], request())
      assert.deepStrictEqual([outcome.events.at(-1), outcome.tookMs], [completed, 5 * 299_000])
    }),
  )

  it.effect("do not time out while their events are handled, and do so for later waits", () =>
    Effect.gen(function* () {
      const mock = yield* MemoryProvider.make([
        reply(bareDeltas("one"), delay("1 minute"), bareDeltas("two"), hang),
      ])
      const client = yield* Effect.provide(HttpClient.HttpClient, mock.layer)
      const handled: Array<readonly [number, string]> = []
      const fiber = yield* Effect.forkChild(
        Stream.runForEach((yield* HttpModel.make(client)).stream(request()), (handledEvent) =>
          Effect.gen(function* () {
            yield* Effect.sleep("20 minutes")
            handled.push([yield* Clock.currentTimeMillis, handledEvent._tag])
          }),
        ).pipe(Effect.flip),
      )
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(
        (yield* Fiber.join(fiber)).message,
        `${prefix}idle timeout waiting for SSE`,
      )
      const minute = 60_000
      assert.deepStrictEqual(handled, [
        [20 * minute, "TextDelta"],
        [41 * minute, "TextDelta"],
      ])
    }),
  )

  it.effect("time out while the headers are awaited, without a retry of the request", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(failure(yield* ask(() => silence, retrying)), {
        message: `${prefix}idle timeout waiting for SSE`,
        reason: "Idle",
        retryable: true,
        requests: 1,
        tookMs: 300_000,
      })
    }),
  )

  it.effect("end without a retry at an event over the limit", () =>
    Effect.gen(function* () {
      const outcome = yield* ask([reply(oversized(2000))], request(), 1000)
      assert.deepStrictEqual(failure(outcome), {
        message: `${prefix}an event is longer than the limit of 1000 bytes`,
        reason: "Stream",
        retryable: false,
        requests: 1,
        tookMs: 0,
      })
    }),
  )
})

describe("HttpModel interruption", () => {
  for (const [name, answer] of [
    ["headers are awaited", silence],
    ["the answer streams", reply(bareDeltas("par"), hang)],
  ] as const) {
    it.effect(`L14 closes the connection while ${name}`, () =>
      Effect.gen(function* () {
        const mock = yield* MemoryProvider.make([answer])
        const client = yield* Effect.provide(HttpClient.HttpClient, mock.layer)
        const fiber = yield* Effect.forkChild(
          Stream.runDrain((yield* HttpModel.make(client)).stream(request())),
        )
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* mock.closed, [])
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* mock.closed, [0])
      }),
    )
  }
})
