import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ErrorCode, type JSONRPCMessage, McpError } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { tmpdir } from "node:os"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { home, provided, scripted } from "./support/Home.ts"
import { isRunning } from "./support/Processes.ts"
import { environment, type ToolResult } from "./support/Server.ts"

beforeAll(buildIfMissing)

/** A `codex/event` as the SDK passes it to its handler. */
interface Event {
  readonly requestId: string | number
  readonly threadId: string
  readonly id: string
  readonly msg: { readonly type: string; readonly [key: string]: unknown }
}

interface Session {
  readonly client: Client
  /** Every message of the server, in order of arrival. */
  readonly messages: ReadonlyArray<JSONRPCMessage>
  readonly events: ReadonlyArray<Event>
  readonly errors: ReadonlyArray<Error>
  /** Sends a message directly through the transport, without the client's own checks. */
  readonly post: (message: JSONRPCMessage) => Effect.Effect<void>
  readonly until: (fits: (message: JSONRPCMessage) => boolean) => Effect.Effect<JSONRPCMessage>
  readonly call: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ) => Effect.Effect<ToolResult>
  readonly pid: number
}

const eventOf = (params: unknown): Event => {
  const { _meta, id, msg } = params as {
    readonly _meta: { readonly requestId: string | number; readonly threadId: string }
    readonly id: string
    readonly msg: Event["msg"]
  }
  return { ..._meta, id, msg }
}

/** The official client, connected to the built server in that state directory. */
const connect = (directory: string): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [entry, "mcp"],
        env: environment({ home: directory }),
        cwd: tmpdir(),
        stderr: "ignore",
      })
      const client = new Client({ name: "live-test", version: "1" })
      const events: Array<Event> = []
      const errors: Array<Error> = []
      Object.assign(client, { onerror: (error: Error) => errors.push(error) })
      client.fallbackNotificationHandler = ({ method, params }) => {
        if (method === "codex/event") events.push(eventOf(params))
        return Promise.resolve()
      }
      await client.connect(transport)
      const messages: Array<JSONRPCMessage> = []
      const watchers = new Set<() => void>()
      const { onmessage } = transport
      Object.assign(transport, {
        onmessage: (message: JSONRPCMessage) => {
          messages.push(message)
          onmessage?.(message)
          for (const watcher of watchers) watcher()
        },
      })
      const session: Session = {
        client,
        messages,
        events,
        errors,
        post: (message) => Effect.promise(() => transport.send(message)),
        until: (fits) =>
          Effect.callback((resume) => {
            const watcher = () => {
              const found = messages.find(fits)
              if (found === undefined) return
              watchers.delete(watcher)
              resume(Effect.succeed(found))
            }
            watchers.add(watcher)
            watcher()
          }),
        call: (name, args, signal) =>
          Effect.promise(
            async () =>
              (await client.callTool(
                { name, arguments: args },
                undefined,
                signal === undefined ? {} : { signal },
              )) as unknown as ToolResult,
          ),
        pid: transport.pid ?? 0,
      }
      return session
    }),
    ({ client }) => Effect.promise(() => client.close()),
  )

const offline = Effect.flatMap(home(), connect)

/** A session with a mock provider that follows this script. */
const withProvider = (script: Script.ProviderScript) =>
  Effect.gen(function* () {
    const provider = yield* MockProvider.make(script)
    return { provider, session: yield* connect(yield* provided(provider.baseUrl, "responses")) }
  })

const threadOf = ({ structuredContent }: ToolResult) => structuredContent?.threadId ?? ""

describe("colloquy mcp, driven by the official SDK", () => {
  it.live("states its name and its tools, with the schemas of their results", () =>
    Effect.gen(function* () {
      const { client, errors } = yield* offline
      assert.strictEqual(client.getServerVersion()?.name, "colloquy")
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(
        tools
          .slice(0, 2)
          .map(({ name, inputSchema, outputSchema }) => [
            name,
            inputSchema.required,
            outputSchema?.required,
          ]),
        [
          ["codex", ["prompt"], ["threadId", "conversationId", "content"]],
          ["codex-reply", ["prompt"], ["threadId", "conversationId", "content"]],
        ],
      )
      assert.deepStrictEqual(errors, [])
    }),
  )

  it.live(
    "responds to a call with a result that the SDK finds valid, after its events in order",
    () =>
      Effect.gen(function* () {
        const { call, client, events, errors } = yield* offline
        // From now on the client checks structured results against the listed schemas.
        yield* Effect.promise(() => client.listTools())
        const result = yield* call("codex", { prompt: "say one two three" })
        const threadId = threadOf(result)
        assert.deepStrictEqual(result, {
          content: [
            { type: "text", text: "one two three" },
            {
              type: "text",
              text: `threadId: ${threadId} (pass it to codex-reply to continue this conversation)`,
              annotations: { audience: ["assistant"] },
            },
          ],
          structuredContent: { threadId, conversationId: threadId, content: "one two three" },
        } as unknown as ToolResult)
        assert.deepStrictEqual(
          events.map(({ msg }) => msg.type),
          [
            "session_configured",
            "task_started",
            "agent_message_delta",
            "agent_message_delta",
            "agent_message_delta",
            "agent_message",
            "token_count",
            "task_complete",
          ],
        )
        assert.isTrue(events.every((event) => event.threadId === threadId))
        assert.strictEqual(events[0]?.msg["session_id"], threadId)
        assert.deepStrictEqual(errors, [])
      }),
  )

  it.live("L2 the result comes after every event of its turn", () =>
    Effect.gen(function* () {
      const session = yield* offline
      yield* session.call("codex", { prompt: "say a b c" })
      const kinds = session.messages.map((message) =>
        "method" in message ? eventOf(message.params).msg.type : "result",
      )
      assert.deepStrictEqual(kinds.slice(-2), ["task_complete", "result"])
    }),
  )

  for (const key of ["threadId", "conversationId", "sessionId"]) {
    it.live(`a reply continues the conversation that \`${key}\` names`, () =>
      Effect.gen(function* () {
        const { provider, session } = yield* withProvider([
          Script.reply(Script.text("first answer")),
          Script.reply(Script.text("second answer")),
        ])
        yield* Effect.promise(() => session.client.listTools())
        const first = yield* session.call("codex", { prompt: "first prompt" })
        const second = yield* session.call("codex-reply", {
          [key]: threadOf(first),
          prompt: "second prompt",
        })
        assert.strictEqual(second.content[0]?.text, "second answer")
        assert.strictEqual(threadOf(second), threadOf(first))
        const [, request] = yield* provider.requests
        for (const said of ["first prompt", "first answer", "second prompt"]) {
          assert.include(JSON.stringify(request?.body), said)
        }
      }),
    )
  }

  it.live("the tools of conversations work together, and each result conforms to its schema", () =>
    Effect.gen(function* () {
      const { client, errors, messages } = yield* offline
      // From now on the client checks structured results against the schemas, including those of failed calls.
      yield* Effect.promise(() => client.listTools())
      const call = (name: string, args: Readonly<Record<string, unknown>>) =>
        Effect.promise(async () => {
          const { isError, structuredContent } = await client.callTool({ name, arguments: args })
          assert.isBoolean(isError, name)
          return structuredContent as Readonly<Record<string, unknown>>
        })
      const made = yield* call("conversationCreate", { cwd: tmpdir() })
      const one = { conversation_id: made["conversation_id"] }
      yield* call("conversationStream", one)
      const content = [{ type: "text", text: "say watched" }]
      const sent = yield* call("conversationSendMessage", { ...one, content })
      assert.strictEqual(sent["status"], "ok")
      const waited = yield* call("conversationWait", one)
      assert.strictEqual(waited["last_agent_message"], "watched")
      assert.strictEqual((yield* call("conversationStatus", one))["status"], "idle")
      assert.deepStrictEqual((yield* call("conversationsList", {}))["conversations"], [
        { ...one, title: "say watched" },
      ])
      const fork = yield* call("conversationFork", { ...one, drop_last_messages: 1 })
      assert.notStrictEqual(fork["conversation_id"], one.conversation_id)
      assert.isFalse((yield* call("conversationInterrupt", one))["interrupted"])
      yield* call("conversationRemove", one)
      assert.deepStrictEqual(yield* call("conversationStatus", one), {
        message: `Session not found for conversation_id: ${String(one.conversation_id)}`,
      })
      assert.include(JSON.stringify(messages), '"method":"notifications/initial_state"')
      assert.include(JSON.stringify(messages), '"reason":"The conversation ended"')
      assert.deepStrictEqual(errors, [])
    }),
  )

  it.live("keeps a string id a string, in the response and in the events", () =>
    Effect.gen(function* () {
      const session = yield* offline
      yield* session.post({
        jsonrpc: "2.0",
        id: "7",
        method: "tools/call",
        params: { name: "codex", arguments: { prompt: "say strung" } },
      })
      const answer = yield* session.until((message) => "result" in message && message.id === "7")
      assert.include(JSON.stringify(answer), '"text":"strung"')
      assert.isAbove(session.events.length, 0)
      assert.isTrue(session.events.every(({ requestId }) => requestId === "7"))
    }),
  )

  it.live("20 calls at once get their own responses and their own events", () =>
    Effect.gen(function* () {
      const { session } = yield* withProvider((call) =>
        Script.reply(
          Script.bareDeltas("answer "),
          Script.delay("20 millis"),
          Script.text(`to ${call.lastUserText}`),
        ),
      )
      yield* Effect.promise(() => session.client.listTools())
      const prompts = Array.from({ length: 20 }, (_, n) => `prompt-${n}`)
      const results = yield* Effect.forEach(
        prompts,
        (prompt) => session.call("codex", { prompt }),
        {
          concurrency: "unbounded",
        },
      )
      assert.deepStrictEqual(
        results.map(({ content }) => content[0]?.text),
        prompts.map((prompt) => `to ${prompt}`),
      )
      assert.strictEqual(new Set(results.map(threadOf)).size, 20)
      for (const [n, result] of results.entries()) {
        const mine = session.events.filter(({ threadId }) => threadId === threadOf(result))
        assert.strictEqual(new Set(mine.map(({ requestId }) => requestId)).size, 1)
        assert.deepStrictEqual(
          mine.flatMap(({ msg }) => (msg.type === "agent_message" ? [msg["message"]] : [])),
          [`to prompt-${n}`],
        )
        assert.deepStrictEqual(
          [mine[0]?.msg.type, mine.at(-1)?.msg.type],
          ["session_configured", "task_complete"],
        )
      }
      assert.deepStrictEqual(session.errors, [])
    }),
  )

  it.live(
    "L1 a call aborted in mid-stream gets no response; its conversation and the server continue",
    () =>
      Effect.gen(function* () {
        const { provider, session } = yield* withProvider([
          Script.reply(Script.bareDeltas("and so "), Script.hang),
          Script.reply(Script.text("still here")),
        ])
        const abort = new AbortController()
        const isEvent = (type: string) => (message: JSONRPCMessage) =>
          "method" in message && eventOf(message.params).msg.type === type
        const aborted = session.client
          .callTool({ name: "codex", arguments: { prompt: "go on" } }, undefined, {
            signal: abort.signal,
          })
          .then(
            () => "answered",
            () => "aborted",
          )
        yield* session.until(isEvent("agent_message_delta"))
        abort.abort()
        assert.strictEqual(yield* Effect.promise(() => aborted), "aborted")
        yield* session.until(isEvent("turn_aborted"))
        yield* provider.awaitClosed(0)
        yield* Effect.promise(() => session.client.ping())
        const [configured] = session.events
        const reply = yield* session.call("codex-reply", {
          threadId: configured?.threadId,
          prompt: "are you there?",
        })
        assert.strictEqual(reply.content[0]?.text, "still here")
        const answered = session.messages.filter(
          (message) => "id" in message && message.id === configured?.requestId,
        )
        assert.deepStrictEqual(answered, [])
        assert.deepStrictEqual(session.errors, [])
      }),
  )

  it.live("answers pings while a turn runs", () =>
    Effect.gen(function* () {
      const session = yield* connect(yield* scripted([[{ delay_ms: 600_000 }]]))
      yield* session.post({
        jsonrpc: "2.0",
        id: "turn",
        method: "tools/call",
        params: { name: "codex", arguments: { prompt: "wait" } },
      })
      yield* session.until((message) => "method" in message)
      assert.deepStrictEqual(yield* Effect.promise(() => session.client.ping()), {})
    }),
  )

  it.live(
    "invalid arguments give a result that a model can read, with the field and the nearest name",
    () =>
      Effect.gen(function* () {
        const { call, client } = yield* offline
        yield* Effect.promise(() => client.listTools())
        for (const [name, args, text] of [
          [
            "codex",
            { prompt: "x", approval_policy: "never" },
            "Failed to parse configuration for Codex tool: unknown field `approval_policy`, did you mean `approval-policy`?",
          ],
          [
            "codex",
            { prompt: 1 },
            "Failed to parse configuration for Codex tool: invalid type: integer `1`, expected a string (field `prompt`)",
          ],
          [
            "codex-reply",
            { prompt: "x", threadId: "nonsense" },
            "Failed to parse thread_id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
          ],
        ] as const) {
          assert.deepStrictEqual(yield* call(name, args), {
            content: [{ type: "text", text }],
            isError: true,
          })
        }
      }),
  )

  it.live("an unknown tool is the error -32602 with the nearest name", () =>
    Effect.gen(function* () {
      const { client } = yield* offline
      const error = yield* Effect.promise(() =>
        client.callTool({ name: "codex_reply", arguments: {} }).then(
          () => undefined,
          (failure: unknown) => failure,
        ),
      )
      assert.instanceOf(error, McpError)
      assert.strictEqual(error.code, ErrorCode.InvalidParams)
      assert.include(error.message, "Unknown tool 'codex_reply', did you mean 'codex-reply'?")
    }),
  )

  it.live("L8 closing the client ends the server before the client has to kill it", () =>
    Effect.gen(function* () {
      const { call, client, pid } = yield* offline
      yield* call("codex", { prompt: "hi" })
      const began = performance.now()
      yield* Effect.promise(() => client.close())
      assert.isFalse(isRunning(pid))
      // After closing a server's input the SDK waits this long for its exit.
      assert.isBelow(performance.now() - began, 2000)
    }),
  )
})
