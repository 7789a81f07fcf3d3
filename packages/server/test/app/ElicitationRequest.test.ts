import type { Elicitation, ElicitationAnswer } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as AppServer from "../../src/AppServer.ts"
import {
  type AppOptions,
  created,
  eventsOf,
  hello,
  listening,
  outline,
  say,
  withApp,
} from "../support/AppHarness.ts"
import { initialize, oneCall } from "../support/Asking.ts"
import type { Harness } from "../support/Harness.ts"

const form: Elicitation = {
  server: "files",
  message: "Which one?\nPlease.",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
}

const message = [
  "Tool server `files` asks:",
  '  "Which one?\\n"',
  '  "Please."',
  "The tool server also wrote what the form says, in quotation marks.",
].join("\n")

const method = "elicitationRequest"

const questions = ({ messages }: Harness) =>
  messages.filter((message) => message.method === method && message.id !== undefined)

const withdrawn = ({ messages }: Harness) =>
  messages.flatMap((message) =>
    message.method === "$/cancelRequest" ? [message.params?.["id"]] : [],
  )

const reasons = (app: Harness) =>
  eventsOf(app).flatMap(({ params }) => {
    const msg = params?.["msg"] as Readonly<Record<string, unknown>>
    return msg["type"] === "approval_resolved" ? [msg["reason"]] : []
  })

/** A server whose model calls a tool that forwards the question of a tool server. */
const withForm = <A, E>(
  options: AppOptions,
  body: (
    app: Harness,
    answers: ReadonlyArray<ElicitationAnswer>,
  ) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> => {
  const answers: Array<ElicitationAnswer> = []
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (_, { elicit }) =>
      Effect.map(elicit(form), (answer) => {
        answers.push(answer)
        return "asked"
      }),
  })
  return withApp({ script: oneCall, tools, ...options }, (app) => body(app, answers))
}

const asked = Effect.fnUntraced(function* (app: Harness, more: object = { after: -1 }) {
  const conversationId = yield* created(app)
  yield* listening(app, conversationId, more)
  yield* say(app, conversationId, "hi")
  yield* app.quiet
  return conversationId
})

const declared = { capabilities: { elicitation: true } }

describe(method, () => {
  it.effect("puts the form of the tool server after its event, and names the tool server", () =>
    withForm(declared, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* asked(app)
        const [question] = questions(app)
        const event = eventsOf(app).at(-1)?.params?.["msg"] as Readonly<Record<string, unknown>>
        assert.deepStrictEqual(question?.params, {
          conversationId,
          elicitationId: event["id"],
          serverName: "files",
          message,
          requestedSchema: form.requestedSchema,
        })
        assert.deepStrictEqual(outline(app).slice(-2), ["elicitation_request", `? ${method}`])
      }),
    ),
  )

  const content = { name: "a.txt" }

  it.effect.each<readonly [object, ElicitationAnswer, string]>([
    [{ action: "accept", content }, { action: "accept", content }, "answered"],
    [{ action: "accept" }, { action: "accept" }, "answered"],
    [{ action: "accept", content: null }, { action: "accept" }, "answered"],
    [{ action: "decline", content }, { action: "decline" }, "answered"],
    [{ action: "cancel" }, { action: "cancel" }, "answered"],
    [{ action: "yes" }, { action: "decline" }, "malformed"],
    [{ action: "accept", content: "a" }, { action: "decline" }, "malformed"],
    [
      { action: "accept", content: { name: "x".repeat(64 * 1024) } },
      { action: "decline" },
      "malformed",
    ],
    [{}, { action: "decline" }, "malformed"],
  ])("L7 %j is returned to the tool server as %j: %s", ([result, expected, reason]) =>
    withForm(declared, (app, answers) =>
      Effect.gen(function* () {
        yield* asked(app)
        yield* app.send({ id: questions(app)[0]?.id, result })
        yield* app.quiet
        assert.deepStrictEqual([answers, reasons(app)], [[expected], [reason]])
        assert.strictEqual(outline(app).at(-1), "task_complete")
      }),
    ),
  )

  it.effect("L7 an error declines the form", () =>
    withForm(declared, (app, answers) =>
      Effect.gen(function* () {
        yield* asked(app)
        yield* app.send({ id: questions(app)[0]?.id, error: { code: -1, message: "no" } })
        yield* app.quiet
        assert.deepStrictEqual([answers, reasons(app)], [[{ action: "decline" }], ["failed"]])
      }),
    ),
  )

  it.effect.each([{}, { elicitation: false }, { elicitation: null }, { approvals: "none" }])(
    "L7 a client that declares %j is not asked, and the form is declined",
    (capabilities) =>
      withForm({ capabilities }, (app, answers) =>
        Effect.gen(function* () {
          yield* asked(app)
          assert.deepStrictEqual(questions(app), [])
          assert.deepStrictEqual([answers, reasons(app)], [[{ action: "decline" }], ["unattended"]])
        }),
      ),
  )

  it.effect("L7 a client that cannot show the form does not decline for another one that can", () =>
    withForm({}, (app, answers) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other, { approvals: "none", elicitation: true })
        const conversationId = yield* created(app)
        yield* listening(app, conversationId, { after: -1 })
        yield* listening(other, conversationId, { after: -1 })
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.deepStrictEqual([questions(app), answers], [[], []])
        yield* other.send({ id: questions(other)[0]?.id, result: { action: "accept", content } })
        yield* app.quiet
        assert.deepStrictEqual(answers, [{ action: "accept", content }])
        assert.deepStrictEqual(reasons(app), ["answered"])
      }),
    ),
  )

  it.effect(
    "L7 two clients are asked, the first answer counts, and the other request is withdrawn",
    () =>
      withForm(declared, (app, answers) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* hello(other, { elicitation: true })
          const conversationId = yield* created(app)
          yield* listening(app, conversationId)
          yield* listening(other, conversationId)
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          yield* other.send({ id: questions(other)[0]?.id, result: { action: "cancel" } })
          yield* app.quiet
          assert.deepStrictEqual(withdrawn(app), [questions(app)[0]?.id])
          assert.deepStrictEqual([withdrawn(other), answers], [[], [{ action: "cancel" }]])
        }),
      ),
  )

  it.effect("L14 is withdrawn when its turn is interrupted", () =>
    withForm(declared, (app, answers) =>
      Effect.gen(function* () {
        const conversationId = yield* asked(app)
        yield* app.ask("stop", "interruptConversation", { conversationId })
        yield* app.quiet
        assert.deepStrictEqual(withdrawn(app), [questions(app)[0]?.id])
        assert.deepStrictEqual(answers, [{ action: "decline" }])
      }),
    ),
  )

  for (const [experimental, count] of [
    [{ elicitation: true }, 1],
    [{ elicitation: {} }, 0],
    [{}, 0],
  ] as const) {
    const what = JSON.stringify(experimental)
    it.effect(
      `on an MCP connection a client whose \`experimental\` is ${what} is asked ${count} times`,
      () =>
        withForm({ besideMcp: AppServer.beside({}), initialized: false }, (app) =>
          Effect.gen(function* () {
            yield* app.send(initialize({ experimental }))
            yield* asked(app)
            assert.strictEqual(questions(app).length, count)
            yield* app.ask("stop", "interruptConversation", {
              conversationId: String(eventsOf(app)[0]?.params?.["conversationId"]),
            })
          }),
        ),
    )
  }
})
