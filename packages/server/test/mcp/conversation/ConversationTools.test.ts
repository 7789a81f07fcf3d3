import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import {
  created,
  echo,
  initialStates,
  quietTurn,
  send,
  text,
  valueOf,
} from "../../support/Conversing.ts"
import { type Harness, listed, toolCall, withServer } from "../../support/Harness.ts"
import { callResult, textOf } from "../../support/Wire.ts"

/** The other arguments that a call needs. */
const others: Readonly<Record<string, object>> = {
  conversationSendMessage: { content: text("x") },
}

const ofOne = conversationTools
  .map(({ name }) => name)
  .filter((name) => name !== "conversationCreate" && name !== "conversationsList")

const someId = "01a1fa29-0000-7000-8000-000000000000"

const failure = (name: string, message: string) =>
  name === "conversationSendMessage" ? { status: "error", message } : { message }

const refuses = (server: Harness, name: string, conversation_id: unknown, message: string) =>
  Effect.gen(function* () {
    const before = server.messages.length
    const answer = yield* server.call(`refused ${name}`, name, { ...others[name], conversation_id })
    yield* server.quiet
    assert.deepStrictEqual(answer.result, {
      content: [{ type: "text", text: JSON.stringify(failure(name, message)) }],
      structuredContent: failure(name, message),
      isError: true,
    })
    assert.strictEqual(server.messages.length, before + 1)
  })

const unknown = (name: string, id: string) =>
  name === "conversationSendMessage"
    ? "Session does not exist"
    : `Session not found for conversation_id: ${id}`

describe("conversation tools: bad ids", () => {
  it.effect.each(ofOne)("L13 %s names the error of an id that is not a UUID", (name) =>
    withServer({}, (server) =>
      refuses(
        server,
        name,
        "not-a-uuid",
        "Failed to parse conversation_id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
      ),
    ),
  )

  it.effect.each(ofOne)("L13 %s knows no conversation of that id", (name) =>
    withServer({}, (server) => refuses(server, name, someId.toUpperCase(), unknown(name, someId))),
  )

  it.effect.each(ofOne)("L13 %s knows no conversation that was removed", (name) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* server.call(1, "conversationRemove", { conversation_id: id })
        yield* refuses(server, name, id, unknown(name, id))
      }),
    ),
  )

  it.effect.each(ofOne)("L13 %s knows no conversation of another server", (name) =>
    Effect.gen(function* () {
      const id = yield* withServer({}, created)
      yield* withServer({}, (server) => refuses(server, name, id, unknown(name, id)))
    }),
  )

  it.effect.each(ofOne)("%s finds a conversation of another connection, in any spelling", (name) =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        const other = yield* server.another
        const conversation_id = `urn:uuid:${id.toUpperCase()}`
        const answer = yield* other.call(1, name, { ...others[name], conversation_id })
        assert.isFalse(callResult(answer).isError)
      }),
    ),
  )
})

describe("conversation tools: arguments", () => {
  it.effect.each<readonly [name: string, args: unknown, faults: string]>([
    ["conversationStream", undefined, "missing field `conversation_id` (expected a string)"],
    [
      "conversationStream",
      { conversationId: someId },
      "unknown field `conversationId`, did you mean `conversation_id`?; missing field `conversation_id` (expected a string)",
    ],
    [
      "conversationSendMessage",
      { conversation_id: someId },
      "missing field `content` (expected a sequence)",
    ],
    [
      "conversationSendMessage",
      { conversation_id: someId, content: [{ type: "text", text: 7 }] },
      "invalid type: integer `7`, expected a string (field `content[0].text`)",
    ],
    [
      "conversationSendMessage",
      { conversation_id: someId, content: [{ type: "words", text: "x" }] },
      "unknown variant `words`, expected one of `text`, `image`, `local_image` (field `content[0].type`)",
    ],
    [
      "conversationSendMessage",
      { conversation_id: someId, content: "hi" },
      'invalid type: string "hi", expected a sequence (field `content`)',
    ],
    [
      "conversationWait",
      { conversation_id: someId, timeout_ms: 600_001 },
      "invalid type: integer `600001`, expected an integer from 0 to 600000 (field `timeout_ms`)",
    ],
    [
      "conversationCreate",
      { sandbox: "readonly" },
      "unknown variant `readonly`, expected one of `read-only`, `workspace-write`, `danger-full-access`, did you mean `read-only`? (field `sandbox`)",
    ],
    [
      "conversationCreate",
      { "approval-policy": "never" },
      "unknown field `approval-policy`, did you mean `approval_policy`?",
    ],
    [
      "conversationsList",
      { limit: "7" },
      'invalid type: string "7", expected an integer (field `limit`)',
    ],
    [
      "conversationStatus",
      [],
      "invalid type: sequence, expected a map of arguments for `conversationStatus`",
    ],
  ])("%s with %j is refused, and nothing happens", ([name, args, faults]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, name, args)
        const message = `Failed to parse arguments for ${name}: ${faults}`
        assert.deepStrictEqual(valueOf(answer), failure(name, message))
        assert.isTrue(callResult(answer).isError)
        assert.deepStrictEqual(yield* listed(server.manager), [])
      }),
    ),
  )

  it("each explains its arguments, refuses others, and declares what a client may assume", () => {
    for (const { annotations, description, inputSchema, name, outputSchema } of conversationTools) {
      const { additionalProperties, properties } = inputSchema as {
        readonly additionalProperties: boolean
        readonly properties: Readonly<Record<string, { readonly description?: string }>>
      }
      assert.isFalse(additionalProperties, name)
      assert.strictEqual(outputSchema["type"], "object", name)
      assert.isAbove(description.length, 20)
      assert.isBoolean(annotations?.readOnlyHint, name)
      for (const [argument, property] of Object.entries(properties)) {
        assert.isAbove(property.description?.length ?? 0, 10, `${name}: ${argument}`)
      }
      assert.notInclude(JSON.stringify([inputSchema, outputSchema]), "$ref")
    }
  })

  it.effect("are listed after those of the original when all tools are listed", () =>
    withServer({ ownTools: "all" }, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(1, "tools/list")
        const { tools } = yield* Schema.decodeUnknownEffect(McpSchema.ListToolsResult)(result)
        assert.deepStrictEqual(
          tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
          [
            ["codex", undefined],
            ["codex-reply", undefined],
            ["conversationCreate", false],
            ["conversationSendMessage", false],
            ["conversationStream", true],
            ["conversationsList", true],
            ["conversationInterrupt", false],
            ["conversationStatus", true],
            ["conversationWait", true],
            ["conversationFork", false],
            ["conversationRemove", false],
          ],
        )
      }),
    ),
  )
})

describe("conversationCreate", () => {
  it.effect("L3 creates a conversation with its settings; no turn runs and no event is sent", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, "conversationCreate", {
          prompt: "never sent",
          model: "o3",
          cwd: "/repo",
          approval_policy: "never",
        })
        const [id = ""] = yield* listed(server.manager)
        assert.deepStrictEqual(valueOf(answer), { conversation_id: id, model: "o3" })
        yield* server.quiet
        assert.strictEqual(server.messages.length, 1)
        assert.deepStrictEqual(yield* server.provider.requests, [])
        const status = yield* server.call(2, "conversationStatus", { conversation_id: id })
        assert.deepStrictEqual(valueOf(status), {
          conversation_id: id,
          status: "idle",
          waiting_messages: 0,
          open_questions: 0,
          events: 2,
          streaming: false,
          model: "o3",
          cwd: "/repo",
          approval_policy: "never",
        })
      }),
    ),
  )

  it.effect("L3 invalid settings are refused, and leave no conversation", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, "conversationCreate", { profile: "nope" })
        assert.deepStrictEqual(valueOf(answer), {
          message: "Failed to load config: config profile `nope` not found",
        })
        assert.deepStrictEqual(yield* listed(server.manager), [])
      }),
    ),
  )
})

describe("conversationsList", () => {
  it.effect(
    "returns every conversation once, newest first, with the beginning of its first message",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const ids: Array<string> = []
          for (let n = 0; n < 5; n++) {
            ids.push(yield* created(server, `c${n}`))
            if (n > 0) yield* send(server, `m${n}`, ids[n] ?? "", `number ${n}\n${"x".repeat(100)}`)
          }
          yield* server.quiet
          const seen: Array<unknown> = []
          let cursor: unknown
          do {
            const args = { limit: 2, ...(cursor === undefined ? {} : { cursor }) }
            const value = valueOf(yield* server.call(`l${seen.length}`, "conversationsList", args))
            seen.push(...(value["conversations"] as ReadonlyArray<unknown>))
            cursor = value["next_cursor"]
          } while (cursor !== undefined)
          assert.deepStrictEqual(
            seen,
            ids
              .map((conversation_id, n) => ({
                conversation_id,
                title: n === 0 ? "" : `number ${n} ${"x".repeat(70)}…`,
              }))
              .toReversed(),
          )
        }),
      ),
  )

  it.effect("without arguments returns the first page; an invalid cursor or limit is refused", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(valueOf(yield* server.call(1, "conversationsList")), {
          conversations: [],
        })
        assert.deepStrictEqual(
          valueOf(yield* server.call(2, "conversationsList", { cursor: "zzz" })),
          { message: "cursor: expected the nextCursor of an earlier page" },
        )
        assert.deepStrictEqual(valueOf(yield* server.call(3, "conversationsList", { limit: 0 })), {
          message: "limit: expected a whole number from 1 to 1000; got 0",
        })
      }),
    ),
  )
})

describe("conversationInterrupt", () => {
  it.effect(
    "L14 interrupts the turn at once and drops waiting messages; reports that no turn was running",
    () =>
      withServer({ script: [Script.silence] }, (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          const one = { conversation_id: id }
          assert.deepStrictEqual(valueOf(yield* server.call(1, "conversationInterrupt", one)), {
            ...one,
            interrupted: false,
          })
          yield* send(server, 2, id, "one")
          yield* send(server, 3, id, "two", { while_running: "wait" })
          yield* server.quiet
          assert.deepStrictEqual(valueOf(yield* server.call(4, "conversationInterrupt", one)), {
            ...one,
            interrupted: true,
          })
          yield* server.quiet
          assert.deepStrictEqual(valueOf(yield* server.call(5, "conversationWait", one)), {
            ...one,
            status: "idle",
            timed_out: false,
            last_agent_message: null,
          })
          assert.strictEqual((yield* server.provider.requests).length, 1)
        }),
      ),
  )

  it.effect("L1 a `codex-reply` gets a response when its turn is interrupted", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* server.send(toolCall(1, "codex-reply", { threadId: id, prompt: "x" }))
        yield* server.quiet
        yield* server.call(2, "conversationInterrupt", { conversation_id: id })
        const answer = yield* server.response(1)
        assert.strictEqual(textOf(answer), "Turn interrupted")
      }),
    ),
  )
})

describe("conversationWait", () => {
  it.effect("L1 ends when its time is up, and reports what is still running", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* send(server, 1, id, "one")
        for (const [call, args, duration] of [
          [2, {}, "30 seconds"],
          [3, { timeout_ms: 200_000 }, "200 seconds"],
        ] as const) {
          yield* server.send(toolCall(call, "conversationWait", { conversation_id: id, ...args }))
          yield* server.quiet
          assert.isUndefined(server.messages.find((message) => message.id === call))
          yield* TestClock.adjust(duration)
          assert.deepStrictEqual(valueOf(yield* server.response(call)), {
            conversation_id: id,
            status: "running",
            timed_out: true,
            last_agent_message: null,
          })
        }
      }),
    ),
  )

  it.effect("waits for all turns, also queued ones, and returns the last message", () =>
    withServer(
      {
        script: ({ lastUserText }) =>
          Script.reply(Script.delay("1 second"), Script.text(lastUserText)),
      },
      (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          yield* send(server, 1, id, "one")
          yield* send(server, 2, id, "two", { while_running: "wait" })
          yield* server.send(toolCall(3, "conversationWait", { conversation_id: id }))
          yield* server.quiet
          yield* TestClock.adjust("1 second")
          yield* server.quiet
          assert.isUndefined(server.messages.find((message) => message.id === 3))
          yield* TestClock.adjust("1 second")
          assert.deepStrictEqual(valueOf(yield* server.response(3)), {
            conversation_id: id,
            status: "idle",
            timed_out: false,
            last_agent_message: "two",
          })
        }),
    ),
  )

  it.effect(
    "returns the last message of a long conversation, whose events arrive in several batches",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          for (let n = 0; n < 60; n++) {
            yield* send(server, `s${n}`, id, `n${n}`)
            const answer = yield* server.call(`w${n}`, "conversationWait", { conversation_id: id })
            assert.strictEqual(valueOf(answer)["last_agent_message"], `you said n${n}`)
          }
        }),
      ),
  )

  it.effect("the end of the conversation ends the wait", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* send(server, 1, id, "one")
        yield* server.send(toolCall(2, "conversationWait", { conversation_id: id }))
        yield* server.quiet
        yield* server.call(3, "conversationRemove", { conversation_id: id })
        assert.notStrictEqual(valueOf(yield* server.response(2))["timed_out"], true)
      }),
    ),
  )
})

describe("conversationFork and conversationRemove", () => {
  it.effect("a fork continues independently from the event at which it ends", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        for (const words of ["one", "two"]) {
          yield* send(server, words, id, words)
          yield* server.quiet
        }
        const forks: Array<string> = []
        for (const [call, args] of [
          ["a", {}],
          ["b", { drop_last_messages: 1 }],
          ["d", { before_message: 0 }],
        ] as const) {
          const answer = yield* server.call(call, "conversationFork", {
            conversation_id: id,
            ...args,
          })
          const value = valueOf(answer)
          assert.strictEqual(value["model"], "mock-model")
          forks.push(String(value["conversation_id"]))
        }
        for (const fork of forks) {
          yield* server.call(`s${fork}`, "conversationStream", { conversation_id: fork })
        }
        yield* server.quiet
        assert.deepStrictEqual(initialStates(server), [[...quietTurn, ...quietTurn], quietTurn, []])
        yield* server.call("r", "conversationRemove", { conversation_id: id })
        assert.deepStrictEqual<ReadonlyArray<string>>(yield* listed(server.manager), forks)
        yield* send(server, "three", forks[1] ?? "", "three")
        const waited = yield* server.call("w", "conversationWait", { conversation_id: forks[1] })
        assert.strictEqual(valueOf(waited)["last_agent_message"], "you said three")
      }),
    ),
  )

  it.effect.each<readonly [args: object, message: string]>([
    [
      { drop_last_messages: 1, before_message: 0 },
      "expected `drop_last_messages` or `before_message`, not both",
    ],
    [{ drop_last_messages: 2 }, "n: expected at most 0, as many user messages as there are; got 2"],
  ])("a fork without a valid end is refused: %j", ([args, message]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        const answer = yield* server.call(1, "conversationFork", { conversation_id: id, ...args })
        assert.deepStrictEqual(valueOf(answer), { message })
        assert.strictEqual((yield* listed(server.manager)).length, 1)
      }),
    ),
  )

  it.effect("removing interrupts the turn; the calls that wait for it get their response", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* server.send(toolCall(1, "codex-reply", { threadId: id, prompt: "x" }))
        yield* server.quiet
        const answer = yield* server.call(2, "conversationRemove", { conversation_id: id })
        assert.deepStrictEqual(valueOf(answer), { conversation_id: id })
        assert.isTrue(callResult(yield* server.response(1)).isError)
        assert.deepStrictEqual(yield* listed(server.manager), [])
      }),
    ),
  )
})
