import { ToolOutput } from "@colloquy/protocol/mcp/CodexTools"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defaultAnswer, defaultReply, listed, toolCall, withServer } from "../../support/Harness.ts"
import {
  callResult,
  contentOf,
  event,
  eventsOf,
  textOf,
  threadOf,
  typesOf,
} from "../../support/Wire.ts"

const allTools = serverTools.map(({ name }) => name)
const unparsed = "Failed to parse configuration for Codex tool: "
const unloaded = "Failed to load Codex configuration from overrides: "
const someId = "01a1fa29-0000-7000-8000-000000000000"
const otherId = "01a1fa29-0000-7000-8000-000000000001"

/** Strict: exactly the members of the output schema. */
const decodeOutput = Schema.decodeUnknownSync(ToolOutput, { onExcessProperty: "error" })

const decodeBody = Schema.decodeUnknownSync(
  Schema.Struct({ input: Schema.Array(Schema.Struct({ role: Schema.String })) }),
)

const echo: Script.ProviderScript = ({ lastUserText }) =>
  Script.reply(Script.deltas("you said ", lastUserText))

describe("tools/call: invalid calls", () => {
  it.effect.each<readonly [what: string, name: string, args: unknown, text: string]>([
    [
      "no arguments",
      "codex",
      undefined,
      "Missing arguments for codex tool-call; the `prompt` field is required.",
    ],
    [
      "null for arguments",
      "codex",
      null,
      "Missing arguments for codex tool-call; the `prompt` field is required.",
    ],
    [
      "a text for arguments",
      "codex",
      "str",
      `${unparsed}invalid type: string "str", expected a map of arguments for \`codex\``,
    ],
    [
      "a list for arguments",
      "codex",
      ["x"],
      `${unparsed}invalid type: sequence, expected a map of arguments for \`codex\``,
    ],
    [
      "a number for arguments",
      "codex-reply",
      1.5,
      `${unparsed}invalid type: floating point \`1.5\`, expected a map of arguments for \`codex-reply\``,
    ],
    ["no prompt", "codex", {}, `${unparsed}missing field \`prompt\` (expected a string)`],
    [
      "a number for the prompt",
      "codex",
      { prompt: 42 },
      `${unparsed}invalid type: integer \`42\`, expected a string (field \`prompt\`)`,
    ],
    [
      "an underscore for a hyphen",
      "codex",
      { prompt: "x", approval_policy: "never" },
      `${unparsed}unknown field \`approval_policy\`, did you mean \`approval-policy\`?`,
    ],
    [
      "a misspelt argument",
      "codex",
      { prompt: "x", sandbx: "read-only" },
      `${unparsed}unknown field \`sandbx\`, did you mean \`sandbox\`?`,
    ],
    [
      "an argument near to none",
      "codex-reply",
      { prompt: "x", threadId: someId, temperature: 1 },
      `${unparsed}unknown field \`temperature\`, expected one of \`conversationId\`, \`prompt\`, \`sessionId\`, \`threadId\`, \`while-running\``,
    ],
    [
      "an unknown member of an enumeration, with the nearest",
      "codex",
      { prompt: "x", sandbox: "readonly" },
      `${unparsed}unknown variant \`readonly\`, expected one of \`read-only\`, \`workspace-write\`, \`danger-full-access\`, did you mean \`read-only\`? (field \`sandbox\`)`,
    ],
    [
      "another type for an enumeration",
      "codex",
      { prompt: "x", "approval-policy": true },
      `${unparsed}invalid type: boolean \`true\`, expected one of \`untrusted\`, \`on-failure\`, \`on-request\`, \`never\` (field \`approval-policy\`)`,
    ],
    [
      "several faults, all reported",
      "codex",
      { sandbox: "bogus", cwd: 1 },
      `${unparsed}invalid type: integer \`1\`, expected a string (field \`cwd\`); missing field \`prompt\` (expected a string); unknown variant \`bogus\`, expected one of \`read-only\`, \`workspace-write\`, \`danger-full-access\` (field \`sandbox\`)`,
    ],
    [
      "an unknown profile",
      "codex",
      { prompt: "x", profile: "nope" },
      `${unloaded}config profile \`nope\` not found`,
    ],
    [
      "an unknown provider",
      "codex",
      { prompt: "x", config: { model_provider: "nope" } },
      `${unloaded}Model provider \`nope\` not found`,
    ],
    [
      "a bad setting",
      "codex",
      { prompt: "x", config: { model_reasoning_effort: "bogus" } },
      `${unloaded}unknown variant \`bogus\`, expected one of \`none\`, \`minimal\`, \`low\`, \`medium\`, \`high\`, \`xhigh\`\nin \`model_reasoning_effort\`\n`,
    ],
    [
      "no arguments for a reply",
      "codex-reply",
      undefined,
      "Missing arguments for codex-reply tool-call; the `conversation_id` and `prompt` fields are required.",
    ],
    [
      "no id for a reply",
      "codex-reply",
      { prompt: "x" },
      `${unparsed}missing field \`threadId\` (expected a string; \`conversationId\` and \`sessionId\` are accepted too): no conversation was started or continued on this connection`,
    ],
    [
      "null for the id of a reply",
      "codex-reply",
      { prompt: "x", threadId: null, conversationId: null, sessionId: null },
      `${unparsed}missing field \`threadId\` (expected a string; \`conversationId\` and \`sessionId\` are accepted too): no conversation was started or continued on this connection`,
    ],
    [
      "two ids that differ",
      "codex-reply",
      { prompt: "x", threadId: someId, sessionId: otherId },
      `${unparsed}\`threadId\` and \`sessionId\` name different conversations`,
    ],
    [
      "the id under a name near to one",
      "codex-reply",
      { prompt: "x", thread_id: someId },
      `${unparsed}unknown field \`thread_id\`, did you mean \`threadId\`?`,
    ],
    [
      "an id that is none",
      "codex-reply",
      { prompt: "x", sessionId: "not-a-uuid" },
      "Failed to parse session_id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
    ],
    [
      "an empty id",
      "codex-reply",
      { prompt: "x", conversationId: "" },
      "Failed to parse conversation_id: invalid length: expected length 32 for simple format, found 0",
    ],
    [
      "an unknown id",
      "codex-reply",
      { prompt: "x", sessionId: someId },
      `Session not found for session_id: ${someId}`,
    ],
    [
      "an unknown id under its newest name",
      "codex-reply",
      { prompt: "x", threadId: someId.toUpperCase() },
      `Session not found for thread_id: ${someId}`,
    ],
  ])("%s is reported and nothing starts", ([, name, args, text]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, name, args)
        assert.strictEqual(textOf(answer), text)
        assert.isTrue(callResult(answer).isError)
        yield* server.quiet
        assert.deepStrictEqual(yield* listed(server.manager), [])
        assert.deepStrictEqual(yield* server.provider.requests, [])
        assert.strictEqual(server.texts.length, 1)
      }),
    ),
  )

  it.effect.each<readonly [params: unknown, error: object]>([
    [
      { name: "codexx" },
      {
        code: -32602,
        message: "Unknown tool 'codexx', did you mean 'codex'?",
        data: { tools: allTools },
      },
    ],
    [
      { name: "codex_reply", arguments: { prompt: "x" } },
      {
        code: -32602,
        message: "Unknown tool 'codex_reply', did you mean 'codex-reply'?",
        data: { tools: allTools },
      },
    ],
    [
      { name: "shell" },
      { code: -32602, message: "Unknown tool 'shell'", data: { tools: allTools } },
    ],
    [
      undefined,
      {
        code: -32602,
        message: "Invalid params: params.name: Missing key",
        data: { issues: [{ path: ["name"], message: "Missing key" }] },
      },
    ],
    [
      { name: 7 },
      {
        code: -32602,
        message: "Invalid params: params.name: Expected string",
        data: { issues: [{ path: ["name"], message: "Expected string" }] },
      },
    ],
  ])("a call of an unknown tool is an error: %j", ([params, error]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* server.ask(1, "tools/call", params)).error, error)
        assert.deepStrictEqual(yield* listed(server.manager), [])
      }),
    ),
  )
})

describe("tools/call: codex and codex-reply", () => {
  it.effect(
    "L2 the response comes after the turn's last event and conforms to the output schema",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const answer = yield* server.call("a", "codex", { prompt: "hello" })
          const id = threadOf(answer)
          assert.deepStrictEqual(answer.result, {
            content: contentOf(id, "you said hello"),
            structuredContent: { threadId: id, conversationId: id, content: "you said hello" },
          })
          assert.deepStrictEqual(decodeOutput(answer.result?.["structuredContent"]).threadId, id)
          yield* Schema.decodeUnknownEffect(McpSchema.CallToolResult)(answer.result)
          assert.strictEqual(server.messages.indexOf(answer), server.messages.length - 1)
          assert.deepStrictEqual(typesOf(server.messages, "a"), [
            "session_configured",
            "task_started",
            "agent_message_delta",
            "agent_message_delta",
            "agent_message",
            "token_count",
            "task_complete",
          ])
          assert.deepStrictEqual<ReadonlyArray<string>>(yield* listed(server.manager), [id])
        }),
      ),
  )

  it.effect("L3 the first event is session_configured, and names conversation and request", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.call(1, "codex", {
          prompt: "x",
          model: "other",
          cwd: "sub/dir",
          sandbox: "workspace-write",
          "approval-policy": "never",
          config: { model_reasoning_effort: "low" },
        })
        const [first] = eventsOf(server.messages, 1)
        const [id] = yield* listed(server.manager)
        assert.deepStrictEqual(first, {
          _meta: { requestId: 1, threadId: id },
          id: "",
          msg: {
            type: "session_configured",
            session_id: id,
            model: "other",
            reasoning_effort: "low",
            history_log_id: 0,
            history_entry_count: 0,
            thread_id: id,
            model_provider_id: "mock_provider",
            approval_policy: "never",
            sandbox_policy: {
              mode: "workspace-write",
              network_access: false,
              exclude_tmpdir_env_var: false,
              exclude_slash_tmp: false,
            },
            cwd: "/work/sub/dir",
          },
        })
      }),
    ),
  )

  it.effect.each(["sessionId", "conversationId", "threadId"])(
    "codex-reply continues a conversation named by %s",
    (key) =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const first = yield* server.call(7, "codex", { prompt: "one" })
          const id = threadOf(first)
          for (const [n, prompt] of ["two", "three"].entries()) {
            const reply = yield* server.call(8 + n, "codex-reply", { [key]: id, prompt })
            assert.strictEqual(textOf(reply), `you said ${prompt}`)
            assert.strictEqual(threadOf(reply), id)
            const events = eventsOf(server.messages, 8 + n)
            // Replies are numbered per conversation (packages/server/test/fixtures/v0.29.0/reply.jsonl).
            assert.isTrue(events.every((event) => event.id === String(n)))
            assert.strictEqual(events[0]?.msg.type, "task_started")
          }
          const [, , third] = yield* server.provider.requests
          const { input: spoken } = decodeBody(third?.body)
          assert.deepStrictEqual(
            spoken.map(({ role }) => role),
            ["user", "user", "assistant", "user", "assistant", "user"],
          )
        }),
      ),
  )

  it.effect("codex-reply accepts the same id under several names, in any spelling", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const id = threadOf(yield* server.call(1, "codex", { prompt: "x" }))
        const both = { threadId: id, conversationId: id, sessionId: id, prompt: "y" }
        assert.strictEqual(textOf(yield* server.call(2, "codex-reply", both)), defaultAnswer)
        const urn = { threadId: `urn:uuid:${id.toUpperCase()}`, prompt: "z" }
        assert.strictEqual(threadOf(yield* server.call(3, "codex-reply", urn)), id)
      }),
    ),
  )

  it.effect(
    "two replies at once on one conversation run one after the other, each with its own response",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = threadOf(yield* server.call(1, "codex", { prompt: "x" }))
          yield* server.send(
            toolCall(2, "codex-reply", { threadId: id, prompt: "first" }),
            toolCall(3, "codex-reply", { threadId: id, prompt: "second" }),
          )
          const [first, second] = [yield* server.response(2), yield* server.response(3)]
          assert.deepStrictEqual(
            [textOf(first), textOf(second)],
            ["you said first", "you said second"],
          )
          const order = server.messages
            .filter(({ method }) => method === "codex/event")
            .map((message) => Number(event(message)._meta?.["requestId"]))
          assert.deepStrictEqual(
            order,
            order.toSorted((a, b) => a - b),
          )
          for (const request of [2, 3]) {
            assert.deepStrictEqual(typesOf(server.messages, request), [
              "task_started",
              "agent_message_delta",
              "agent_message_delta",
              "agent_message",
              "token_count",
              "task_complete",
            ])
          }
        }),
      ),
  )

  it.effect("20 conversations at once are kept apart", () =>
    withServer({ script: echo, capacity: 4 }, (server) =>
      Effect.gen(function* () {
        const ids = Array.from({ length: 20 }, (_, n) => n)
        yield* server.send(...ids.map((n) => toolCall(n, "codex", { prompt: `n${n}.` })))
        const threads = new Set<string>()
        for (const n of ids) {
          const answer = yield* server.response(n)
          assert.strictEqual(textOf(answer), `you said n${n}.`)
          threads.add(threadOf(answer))
          const events = eventsOf(server.messages, n)
          assert.isTrue(events.every(({ _meta }) => _meta?.["threadId"] === threadOf(answer)))
          assert.deepStrictEqual(typesOf(server.messages, n).at(-1), "task_complete")
        }
        assert.strictEqual(threads.size, 20)
      }),
    ),
  )

  it.effect(
    "L1 an id in use is refused by an error without that id: only the result of the first call has it",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          yield* server.send(
            toolCall(1, "codex", { prompt: "one" }),
            toolCall(1, "codex", { prompt: "two" }),
            { jsonrpc: "2.0", id: 1, method: "ping" },
            { jsonrpc: "2.0", id: 1, method: "no/such/method" },
            { jsonrpc: "2.0", id: 1, method: 7 },
            toolCall(1, "codex", { nonsense: true }),
          )
          yield* server.quiet
          const refused = {
            code: -32600,
            message: "Invalid Request: the id 1 is in use by a request still in flight",
            data: { id: 1 },
          }
          const responses = server.messages.filter(({ method }) => method === undefined)
          const errors = responses.flatMap(({ error, id }) => (id === null ? [error] : []))
          // One of the five is not a request.
          assert.strictEqual(errors.length, 5)
          assert.deepStrictEqual(
            errors.filter((error) => error?.message === refused.message),
            [refused, refused, refused, refused],
          )
          assert.deepStrictEqual(
            errors.map((error) => error?.data),
            errors.map(() => ({ id: 1 })),
          )
          const own = responses.filter(({ id }) => id === 1)
          assert.deepStrictEqual(own.map(textOf), ["you said one"])
          assert.strictEqual((yield* listed(server.manager)).length, 1)
          // The id is free again once its request is answered.
          assert.deepStrictEqual((yield* server.provider.requests).length, 1)
          const before = server.messages.length
          yield* server.send({ jsonrpc: "2.0", id: 1, method: "ping" })
          yield* server.quiet
          assert.deepStrictEqual(server.messages.slice(before), [
            { jsonrpc: "2.0", id: 1, result: {} },
          ])
        }),
      ),
  )

  it.effect('the ids 1 and "1" at the same time are two requests', () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        yield* server.send(
          toolCall(1, "codex", { prompt: "number" }),
          toolCall("1", "codex", { prompt: "text" }),
        )
        assert.strictEqual(textOf(yield* server.response(1)), "you said number")
        assert.strictEqual(textOf(yield* server.response("1")), "you said text")
        assert.strictEqual(typesOf(server.messages, 1).at(-1), "task_complete")
        assert.strictEqual(typesOf(server.messages, "1").at(-1), "task_complete")
      }),
    ),
  )
})

describe("tools/call: a provider that fails", () => {
  const broken = "stream disconnected before completion: "
  it.effect.each<readonly [what: string, bad: Script.ProviderReply, text: string, said?: string]>([
    [
      "is down",
      Script.refuse,
      `${broken}error sending request for url (http://provider.test/v1/responses)`,
    ],
    [
      "knows no such key",
      Script.status(401, { body: "bad key" }),
      "unexpected status 401 Unauthorized: bad key",
    ],
    [
      "is out of order",
      Script.status(500),
      "We're currently experiencing high demand, which may cause temporary errors.",
    ],
    [
      "is busy",
      Script.tooManyRequests(),
      "exceeded retry limit, last status: 429 Too Many Requests",
    ],
    ["talks nonsense", Script.reply(Script.garbage), broken],
    ["stops in the middle", Script.reply(Script.bareDeltas("par"), Script.end), broken, "par"],
    [
      "drops the connection",
      Script.reply(Script.bareDeltas("par"), Script.drop),
      `${broken}Transport error: error decoding response body`,
      "par",
    ],
  ])(
    "%s: one error event, one terminal event, a result with the conversation's id",
    ([, bad, text, said]) =>
      withServer({ script: [bad, defaultReply] }, (server) =>
        Effect.gen(function* () {
          const answer = yield* server.call(1, "codex", { prompt: "x" })
          const [id] = yield* listed(server.manager)
          const message = textOf(answer)
          assert.include(message, text)
          assert.deepStrictEqual(answer.result, {
            content: contentOf(id, message),
            isError: true,
            structuredContent: { threadId: id, conversationId: id, content: message },
          })
          decodeOutput(answer.result?.["structuredContent"])
          const events = eventsOf(server.messages, 1).map(({ msg }) => msg)
          assert.deepStrictEqual(
            events.filter(({ type }) => !/^(session_configured|task_started|.*_delta)$/.test(type)),
            [
              ...(said === undefined ? [] : [{ type: "agent_message", message: said }]),
              { type: "error", message },
              { type: "task_complete", last_agent_message: null },
            ],
          )
          const after = yield* server.call(2, "codex-reply", { threadId: id, prompt: "again" })
          assert.strictEqual(textOf(after), defaultAnswer)
          assert.isUndefined(callResult(after).isError)
        }),
      ),
  )
})
