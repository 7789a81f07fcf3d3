import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asking, exec, initialize, oneCall } from "../../support/Asking.ts"
import { created, echo, liveTurn, methods, send, text, valueOf } from "../../support/Conversing.ts"
import { cancelled, type Harness, toolCall, withServer } from "../../support/Harness.ts"

const Body = Schema.Struct({
  model: Schema.String,
  instructions: Schema.String,
  reasoning: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ effort: Schema.optionalKey(Schema.String) })),
  ),
  input: Schema.Array(
    Schema.Struct({
      role: Schema.optionalKey(Schema.String),
      content: Schema.Array(
        Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) }),
      ),
    }),
  ),
})

const bodies = (server: Harness) =>
  Effect.map(server.provider.requests, (requests) =>
    requests.map(({ body }) => Schema.decodeUnknownSync(Body)(body)),
  )

/** The messages to the model, without the description of its environment. */
const said = ({ input }: typeof Body.Type) =>
  input
    .flatMap(({ content }) => content.map((item) => item.text ?? item.type))
    .filter((words) => !words.startsWith("<environment_context>"))

const wait = (server: Harness, id: string) =>
  server.call("wait", "conversationWait", { conversation_id: id })

describe("conversationSendMessage", () => {
  it.effect("gets its response at once, and its turn keeps running", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        assert.deepStrictEqual(valueOf(yield* send(server, 1, id, "one")), {
          status: "ok",
          conversation_id: id,
          message_id: "0",
        })
        assert.strictEqual(valueOf(yield* wait(server, id))["last_agent_message"], "you said one")
        // Without a stream no event is sent.
        assert.deepStrictEqual(methods(server), [])
      }),
    ),
  )

  it.effect("accepts texts and images, and refuses a message without any", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        const content = [...text("see"), { type: "image", image_url: "data:image/png;base64,AA==" }]
        yield* server.call(1, "conversationSendMessage", { conversation_id: id, content })
        yield* wait(server, id)
        const [body] = yield* bodies(server)
        assert.deepStrictEqual(body === undefined ? [] : said(body), ["see", "input_image"])
        const empty = { conversation_id: id, content: [] }
        assert.deepStrictEqual((yield* server.call(2, "conversationSendMessage", empty)).result, {
          content: [
            { type: "text", text: '{"status":"error","message":"No content items provided"}' },
          ],
          structuredContent: { status: "error", message: "No content items provided" },
          isError: true,
        })
      }),
    ),
  )

  it.effect("each override applies from its turn on", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* send(server, 1, id, "one")
        yield* wait(server, id)
        const overrides = {
          model: "gpt-5-other",
          cwd: "/elsewhere",
          approval_policy: "never",
          sandbox: "workspace-write",
          base_instructions: "Be terse.",
          config: { model_reasoning_effort: "high" },
        }
        assert.strictEqual(valueOf(yield* send(server, 2, id, "two", overrides))["status"], "ok")
        yield* server.quiet
        yield* send(server, 3, id, "three")
        yield* server.quiet
        const [first, second, third] = yield* bodies(server)
        assert.strictEqual(first?.model, "mock-model")
        for (const body of [second, third]) {
          assert.deepInclude(body, { model: "gpt-5-other", instructions: "Be terse." })
          assert.strictEqual(body?.reasoning?.effort, "high")
        }
        const environments = JSON.stringify(second?.input)
        assert.include(environments, "<cwd>/elsewhere</cwd>")
        assert.include(environments, "<sandbox_mode>workspace-write</sandbox_mode>")
        const status = valueOf(yield* server.call(4, "conversationStatus", { conversation_id: id }))
        assert.deepInclude(status, {
          model: "gpt-5-other",
          cwd: "/elsewhere",
          approval_policy: "never",
        })
      }),
    ),
  )

  it.effect("overrides do not undo those of a message that still waits", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* send(server, 1, id, "one")
        yield* send(server, 2, id, "two", { model: "other" })
        yield* send(server, 3, id, "three", { cwd: "/elsewhere" })
        const { waiting } = yield* Effect.orDie(
          Effect.flatMap(server.manager.get(id), (conversation) => conversation.state),
        )
        assert.deepStrictEqual(
          waiting.map(({ context }) => [context?.model, context?.cwd]),
          [
            ["other", "/work"],
            ["other", "/elsewhere"],
          ],
        )
      }),
    ),
  )

  it.effect(
    "the policy `granular` of a message's `config` applies, and is kept by later messages",
    () =>
      withServer({ script: [Script.silence] }, (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          const granular = { sandbox_approval: true, rules: true, mcp_elicitations: false }
          yield* send(server, 1, id, "one")
          yield* send(server, 2, id, "two", { config: { approval_policy: { granular } } })
          yield* send(server, 3, id, "three", { model: "other" })
          yield* send(server, 4, id, "four", { approval_policy: "on-request" })
          const { waiting } = yield* Effect.orDie(
            Effect.flatMap(server.manager.get(id), (conversation) => conversation.state),
          )
          const allowed = { sandbox: true, permissions: false, tool_servers: false }
          assert.deepStrictEqual(
            waiting.map(({ context }) => [context?.approval_policy, context?.approval_questions]),
            [
              ["on-request", allowed],
              ["on-request", allowed],
              ["on-request", null],
            ],
          )
        }),
      ),
  )

  it.effect.each<readonly [args: object, message: string]>([
    [
      { config: { model_provider: "nope" } },
      "Failed to load config: Model provider `nope` not found",
    ],
    [{ profile: "nope" }, "Failed to load config: config profile `nope` not found"],
    [
      { config: { approval_timeout_sec: 5 } },
      "Failed to load config: `approvalDeadline` is fixed when a conversation is created; a message can change model, cwd, approvalPolicy, approvalQuestions, sandboxPolicy, effort, summary, baseInstructions",
    ],
    [
      { model: "other", while_running: "queue" },
      "while_running: a message with overrides needs a turn of its own, expected `wait`, `interrupt` or `reject`",
    ],
    [{ while_running: "steer" }, "no turn is running"],
    [{ parent_message_id: "nope" }, "parent_message_id: no message has the id `nope`"],
  ])("%j is refused and nothing runs", ([args, message]) =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        const answer = yield* send(server, 1, id, "one", args)
        assert.deepStrictEqual(valueOf(answer), { status: "error", message })
        assert.isTrue(answer.result?.["isError"])
        yield* server.quiet
        assert.deepStrictEqual(yield* server.provider.requests, [])
      }),
    ),
  )

  it.effect("while a turn runs it joins, waits, interrupts or is refused, as requested", () =>
    withServer(
      {
        script: ({ lastUserText }) =>
          lastUserText === "one" ? Script.silence : Script.reply(Script.text("said")),
      },
      (server) =>
        Effect.gen(function* () {
          const id = yield* created(server)
          const ids: Array<unknown> = []
          for (const [n, more] of [
            {},
            {},
            { while_running: "wait" },
            { while_running: "reject" },
            { while_running: "interrupt" },
          ].entries()) {
            const value = valueOf(yield* send(server, n, id, n === 0 ? "one" : `m${n}`, more))
            ids.push(value["message_id"] ?? value["message"])
          }
          yield* server.quiet
          assert.deepStrictEqual(ids, ["0", "0", "2", "turn `0` is running", "3"])
          const bodiesSaid = (yield* bodies(server)).map((body) => said(body).at(-1))
          assert.deepStrictEqual(bodiesSaid, ["one", "m4", "m2"])
        }),
    ),
  )

  it.effect("L14 cancelled, also long after its response, it interrupts its turn", () =>
    withServer({ script: [Script.silence, Script.reply(Script.text("said"))] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* server.call("s", "conversationStream", { conversation_id: id })
        yield* send(server, 1, id, "one")
        yield* server.quiet
        yield* server.send(cancelled("1"))
        yield* server.quiet
        assert.strictEqual(methods(server).at(-1), "task_started")
        yield* server.send(cancelled(1))
        yield* server.quiet
        assert.strictEqual(methods(server).at(-1), "turn_aborted")
        // Only once: the following turn belongs to another call.
        yield* send(server, 2, id, "two")
        yield* server.send(cancelled(1))
        yield* server.quiet
        assert.deepStrictEqual(methods(server).slice(-liveTurn.length), liveTurn)
      }),
    ),
  )

  it.effect("L14 cancelled before its response, it interrupts its turn and gets no response", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* server.call("s", "conversationStream", { conversation_id: id })
        yield* server.send(
          toolCall(1, "conversationSendMessage", { conversation_id: id, content: text("one") }),
          cancelled(1),
        )
        yield* server.quiet
        assert.notInclude(
          server.messages.map((message) => message.id),
          1,
        )
        const status = valueOf(yield* server.call(2, "conversationStatus", { conversation_id: id }))
        assert.strictEqual(status["status"], "idle")
      }),
    ),
  )

  it.effect("L6 a thousand messages that join one turn take no more memory than the first", () => {
    const asked = asking([exec])
    return withServer({ script: oneCall, tools: asked.tools }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }))
        const id = yield* created(server)
        for (let n = 0; n < 1_100; n++) {
          assert.strictEqual(valueOf(yield* send(server, n, id, `n${n}`))["status"], "ok")
        }
        const { approvals } = yield* Effect.orDie(
          Effect.flatMap(server.manager.get(id), (conversation) => conversation.state),
        )
        assert.strictEqual(approvals.approvalListeners, 1)
      }),
    )
  })

  it.effect("a cancellation of an id that is in use again cancels the later call", () =>
    withServer({ script: [Script.silence] }, (server) =>
      Effect.gen(function* () {
        const id = yield* created(server)
        yield* send(server, 1, id, "one")
        yield* server.send(toolCall(1, "conversationWait", { conversation_id: id }))
        yield* server.quiet
        yield* server.send(cancelled(1))
        yield* server.quiet
        const status = valueOf(yield* server.call(2, "conversationStatus", { conversation_id: id }))
        assert.strictEqual(status["status"], "running")
        assert.strictEqual(server.messages.filter((m) => m.id === 1).length, 1)
      }),
    ),
  )
})

describe("conversationSendMessage: parent_message_id", () => {
  const threeMessages = (server: Harness) =>
    Effect.gen(function* () {
      const id = yield* created(server)
      for (const words of ["one", "two", "three"]) {
        yield* send(server, words, id, words)
        yield* wait(server, id)
        yield* server.quiet
      }
      return id
    })

  it.effect("of the last message: continues the conversation itself", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* threeMessages(server)
        const value = valueOf(yield* send(server, 4, id, "four", { parent_message_id: "2" }))
        assert.deepStrictEqual(value, { status: "ok", conversation_id: id, message_id: "3" })
      }),
    ),
  )

  it.effect(
    "of an earlier one: sends it to a fork that ends there, and the conversation is unchanged",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = yield* threeMessages(server)
          const value = valueOf(yield* send(server, 4, id, "four", { parent_message_id: "0" }))
          const fork = String(value["conversation_id"])
          assert.notStrictEqual(fork, id)
          assert.strictEqual(value["status"], "ok")
          yield* server.quiet
          const last = (yield* bodies(server)).at(-1)
          assert.deepStrictEqual(last === undefined ? [] : said(last), [
            "one",
            "you said one",
            "four",
          ])
          const old = valueOf(yield* server.call(5, "conversationWait", { conversation_id: id }))
          assert.strictEqual(old["last_agent_message"], "you said three")
        }),
      ),
  )
})
