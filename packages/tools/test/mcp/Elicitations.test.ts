import type { ElicitationAnswer } from "@colloquy/core/approvals/Approval"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import type { ConversationSettings, McpServer } from "@colloquy/core/ConversationSettings"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import { type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { scriptedResolver, scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { AskPerson } from "../../src/mcp/ServerRequests.ts"
import type { Connecting } from "../../src/mcp/ToolServers.ts"
import { toolsOf } from "../support/ScriptedServers.ts"

const server: McpServer = {
  transport: { _tag: "Stdio", command: "forms", args: [], env: {} },
  startupTimeout: Duration.seconds(10),
  toolTimeout: Duration.seconds(60),
}

const question = {
  message: "Which one?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
}

/** A tool server with a tool `t` that sends the question during its call and returns the answer. */
const makeServer = () => {
  const answers: Array<ElicitationAnswer> = []
  const dies = Deferred.makeUnsafe<string>()
  let asking: AskPerson = () => Effect.die("not started")
  const put = Effect.suspend(() => asking(question)).pipe(
    Effect.tap((answer) => Effect.sync(() => answers.push(answer))),
  )
  const connecting: Connecting = () => (ask) =>
    Effect.sync(() => {
      asking = ask
      return {
        tools: [{ name: "t", inputSchema: { type: "object" } }],
        call: () =>
          Effect.gen(function* () {
            // The fiber of the connection sends the question, not the fiber of the call that causes it.
            const texts = yield* Deferred.make<ElicitationAnswer>()
            yield* Effect.forkDetach(
              Effect.flatMap(put, (answer) => Deferred.succeed(texts, answer)),
            )
            return { content: [], structuredContent: { ...(yield* Deferred.await(texts)) } }
          }),
        ended: Deferred.await(dies),
        request: () => Effect.succeed({}),
        isOver: () => Deferred.isDoneUnsafe(dies),
      }
    })
  return { answers, put, die: Deferred.succeed(dies, "killed"), connecting }
}

const item = (value: ResponseItem): ModelEvent => ({ _tag: "ItemDone", item: value })

/** Each turn calls the tool once and ends with the second response. */
const model = Layer.succeed(ModelClient, {
  stream: ({ input }) =>
    Stream.fromIterable<ModelEvent>([
      input.at(-1)?.type === "function_call_output"
        ? item({ type: "message", role: "assistant", content: [] })
        : item({ type: "function_call", name: "s__t", arguments: "{}", call_id: "c" }),
      { _tag: "Completed" },
    ]),
})

const conversationWith = (settings: Partial<ConversationSettings>) =>
  Effect.flatMap(ConversationManager, (manager) =>
    manager.create(scriptedSettings({ mcpServers: { s: server }, ...settings })),
  )

const conversation = conversationWith({})

const withServer = <A, E>(
  { connecting }: { readonly connecting: Connecting },
  body: Effect.Effect<A, E, ConversationManager>,
) =>
  body.pipe(
    Effect.provide(
      Conversations.layer.pipe(
        Layer.provide([toolsOf(connecting), model]),
        Layer.provide([IdGenerator.layer, MemoryStore.layer, scriptedResolver()]),
      ),
    ),
  )

/** Reads until a question is put or the turn has ended. */
const read = Effect.fnUntraced(function* (listener: Listener) {
  const messages: Array<EventMsg> = []
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag === "Ask") return { messages, asked: delivery.event.msg }
      if (delivery._tag !== "Event") continue
      messages.push(delivery.event.msg)
      if (isTerminal(delivery.event.msg)) return { messages, asked: undefined }
    }
  }
})

const begin = Effect.gen(function* () {
  const live = yield* conversation
  const listener = yield* live.attach({ answers: true })
  yield* live.submit({ type: "user_input", items: [{ type: "text", text: "go" }] })
  const { asked } = yield* read(listener)
  if (asked?.type !== "elicitation_request") return assert.fail("nothing was asked")
  return { live, listener, asked }
})

const outputsIn = (messages: ReadonlyArray<EventMsg>): ReadonlyArray<string> =>
  messages.flatMap((msg) =>
    msg.type === "raw_response_item" && msg.item.type === "function_call_output"
      ? [msg.item.output]
      : [],
  )

describe("questions of tool servers", () => {
  it.effect(
    "L7 reach the conversation with the running call, and the call continues with the answer",
    () => {
      const script = makeServer()
      return withServer(
        script,
        Effect.gen(function* () {
          const bystander = yield* (yield* conversation).attach({ answers: true, from: 0 })
          const { asked, listener, live } = yield* begin
          assert.deepStrictEqual(asked, {
            type: "elicitation_request",
            server_name: "s",
            id: asked.id,
            message:
              'Tool server `s` asks: "Which one?"\nThe tool server also wrote what the form says, in quotation marks.',
            requested_schema: question.requestedSchema,
          })
          // The time in which a person answers does not count towards the timeout of the tool server.
          yield* TestClock.adjust("5 minutes")
          yield* live.submit({
            type: "elicitation_answer",
            id: asked.id,
            action: "accept",
            content: { name: "a" },
          })
          const { messages } = yield* read(listener)
          assert.deepStrictEqual(outputsIn(messages), [
            '{"action":"accept","content":{"name":"a"}}',
          ])
          assert.isTrue((yield* bystander.take).every(({ _tag }) => _tag !== "Ask"))
        }).pipe(Effect.scoped),
      )
    },
  )

  it.effect("are declined where the settings allow no question of tool servers", () => {
    const script = makeServer()
    return withServer(
      script,
      Effect.gen(function* () {
        const approvalQuestions = { sandbox: true, permissions: true, tool_servers: false }
        const live = yield* conversationWith({ approvalQuestions })
        const listener = yield* live.attach({ answers: true })
        yield* live.submit({ type: "user_input", items: [{ type: "text", text: "go" }] })
        const { asked, messages } = yield* read(listener)
        assert.isUndefined(asked)
        assert.deepStrictEqual(outputsIn(messages), ['{"action":"decline"}'])
      }).pipe(Effect.scoped),
    )
  })

  it.effect("L7 are declined when no client can answer", () => {
    const script = makeServer()
    return withServer(
      script,
      Effect.gen(function* () {
        const live = yield* conversation
        const listener = yield* live.attach()
        yield* live.submit({ type: "user_input", items: [{ type: "text", text: "go" }] })
        const { messages } = yield* read(listener)
        assert.deepStrictEqual(outputsIn(messages), ['{"action":"decline"}'])
      }).pipe(Effect.scoped),
    )
  })

  it.effect("L7 are withdrawn when their turn is interrupted, and when their server dies", () =>
    Effect.gen(function* () {
      const stopped = makeServer()
      yield* withServer(
        stopped,
        Effect.gen(function* () {
          const { listener, live } = yield* begin
          yield* live.submit({ type: "interrupt" })
          const { messages } = yield* read(listener)
          assert.includeDeepMembers(
            messages.map(({ type }) => type),
            ["approval_resolved"],
          )
          assert.deepStrictEqual(stopped.answers, [{ action: "decline" }])
        }).pipe(Effect.scoped),
      )
      const killed = makeServer()
      yield* withServer(
        killed,
        Effect.gen(function* () {
          const { asked, listener } = yield* begin
          yield* killed.die
          const { messages } = yield* read(listener)
          assert.deepInclude(messages, {
            type: "approval_resolved",
            call_id: asked.id,
            decision: "denied",
            reason: "withdrawn",
          })
          assert.deepStrictEqual(outputsIn(messages), ['err: "tool call error: killed"'])
        }).pipe(Effect.scoped),
      )
    }),
  )

  it.effect("L7 are cancelled when no call runs", () => {
    const script = makeServer()
    return withServer(
      script,
      Effect.gen(function* () {
        const { asked, listener, live } = yield* begin
        yield* live.submit({ type: "elicitation_answer", id: asked.id, action: "decline" })
        yield* read(listener)
        assert.deepStrictEqual(yield* script.put, { action: "cancel" })
        assert.deepStrictEqual((yield* live.state).approvals.open, [])
      }).pipe(Effect.scoped),
    )
  })
})
