import type { Elicitation, ElicitationAnswer } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  elicitations,
  initialize,
  oneCall,
  questionId,
  responses,
  result,
  withdrawn,
} from "../../support/Asking.ts"
import { cancelled, type Harness, listed, toolCall, withServer } from "../../support/Harness.ts"
import { textOf, typesOf } from "../../support/Wire.ts"

const form: Elicitation = {
  server: "files",
  message: "Which one?\nPlease.",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string", title: "Name", minLength: 1 } },
    required: ["name"],
  },
}

const message = [
  "Tool server `files` asks:",
  '  "Which one?\\n"',
  '  "Please."',
  "The tool server also wrote what the form says, in quotation marks.",
].join("\n")

/** Its title is quoted, like all text of a tool server. */
const requestedSchema = {
  type: "object",
  properties: { name: { type: "string", title: '"Name"', minLength: 1 } },
  required: ["name"],
}

/** A server whose model calls a tool that forwards a question of a tool server; runs `body` once it was asked. */
const withForm = <A, E>(
  body: (
    server: Harness,
    answers: ReadonlyArray<ElicitationAnswer>,
  ) => Effect.Effect<A, E, Scope.Scope>,
  options: { readonly capabilities?: unknown; readonly request?: Elicitation } = {},
): Effect.Effect<A, E> => {
  const answers: Array<ElicitationAnswer> = []
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (_, { elicit }) =>
      Effect.map(elicit(options.request ?? form), (answer) => {
        answers.push(answer)
        return "asked"
      }),
  })
  return withServer({ script: oneCall, tools }, (server) =>
    Effect.gen(function* () {
      yield* server.send(initialize(options.capabilities ?? { elicitation: {} }))
      yield* server.send(toolCall(2, "codex", { prompt: "ask" }))
      yield* server.quiet
      return yield* body(server, answers)
    }),
  )
}

const isAnswered = (server: Harness) =>
  assert.deepStrictEqual(responses(server, 2).map(textOf), ["done"])

const elicitationId = (server: Harness): unknown => {
  const msg = server.messages.at(-2)?.params?.["msg"]
  return typeof msg === "object" && msg !== null && "id" in msg ? msg.id : undefined
}

/** Deeper than a recursive function can follow. */
const deepValue = (): unknown => {
  let deep: unknown = { type: "string" }
  for (let i = 0; i < 50_000; i++) deep = { not: deep }
  return deep
}

/** All keys at their places, without the texts. */
const shapeOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.entries(value).map(([key, part]) => [key, shapeOf(part)])
    : typeof value

describe("elicitation/create: a tool server asks", () => {
  it.effect("follows its event, unchanged, and names the tool server that asks", () =>
    withForm((server) =>
      Effect.gen(function* () {
        const [threadId] = yield* listed(server.manager)
        const [event, question] = server.messages.slice(-2)
        assert.deepStrictEqual(event?.params?.["msg"], {
          type: "elicitation_request",
          server_name: "files",
          id: elicitationId(server),
          message,
          requested_schema: requestedSchema,
        })
        assert.deepStrictEqual<unknown>(question, {
          jsonrpc: "2.0",
          id: 1,
          method: "elicitation/create",
          params: {
            message,
            requestedSchema,
            threadId,
          },
        })
      }),
    ),
  )

  it.effect.each<readonly [unknown, ElicitationAnswer]>([
    [
      { action: "accept", content: { name: "a.txt" } },
      { action: "accept", content: { name: "a.txt" } },
    ],
    [{ action: "accept" }, { action: "accept" }],
    [{ action: "decline", content: { name: "a.txt" } }, { action: "decline" }],
    // Only the form is cancelled: no turn is interrupted.
    [{ action: "cancel" }, { action: "cancel" }],
    // Every other answer declines.
    [{ decision: "approved" }, { action: "decline" }],
    [{ action: "accept", content: "a.txt" }, { action: "decline" }],
    [{ action: "yes" }, { action: "decline" }],
    [{}, { action: "decline" }],
    [null, { action: "decline" }],
  ])("L7 %j reaches the server as %j, and the turn continues", ([answer, expected]) =>
    withForm((server, answers) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), answer))
        yield* server.quiet
        assert.deepStrictEqual(answers, [expected])
        isAnswered(server)
        assert.deepStrictEqual(withdrawn(server), [])
        assert.notInclude(typesOf(server.messages, 2), "approval_resolved")
      }),
    ),
  )

  it.effect("L7 more than 64 KiB filled in declines", () =>
    withForm((server, answers) =>
      Effect.gen(function* () {
        const content = { name: "x".repeat(64 * 1024) }
        yield* server.send(result(questionId(server), { action: "accept", content }))
        yield* server.quiet
        assert.deepStrictEqual(answers, [{ action: "decline" }])
        isAnswered(server)
      }),
    ),
  )

  it.effect("L7 an error declines", () =>
    withForm((server, answers) =>
      Effect.gen(function* () {
        yield* server.send({
          jsonrpc: "2.0",
          id: questionId(server),
          error: { code: -32601, message: "no" },
        })
        yield* server.quiet
        assert.deepStrictEqual(answers, [{ action: "decline" }])
        isAnswered(server)
      }),
    ),
  )

  it.effect("L7 a client that cannot answer is not asked, and the form is declined", () =>
    withForm(
      (server, answers) =>
        Effect.sync(() => {
          assert.deepStrictEqual(elicitations(server), [])
          assert.deepStrictEqual(answers, [{ action: "decline" }])
          isAnswered(server)
        }),
      { capabilities: { elicitation: { url: {} } } },
    ),
  )

  it.effect("L7 is withdrawn and declined after its deadline", () =>
    withForm((server, answers) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("10 minutes")
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        assert.deepStrictEqual(answers, [{ action: "decline" }])
        isAnswered(server)
      }),
    ),
  )

  it.effect("L14 is withdrawn by the cancellation of its call", () =>
    withForm((server, answers) =>
      Effect.gen(function* () {
        yield* server.send(cancelled(2))
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        yield* server.send(
          result(questionId(server), { action: "accept", content: { name: "a.txt" } }),
        )
        yield* server.quiet
        assert.deepStrictEqual([answers, responses(server, 2)], [[{ action: "decline" }], []])
      }),
    ),
  )

  it.effect("L7 the name and texts of a tool server cannot imitate those of the server", () =>
    withForm(
      (server) =>
        Effect.sync(() =>
          assert.strictEqual(
            elicitations(server)[0]?.params?.["message"],
            [
              'Tool server "a\\u202eb" asks:',
              '  "\\x1b[2J\\n"',
              '  "Allow Codex to run `ls` in `/`?"',
              "The tool server also wrote what the form says, in quotation marks.",
            ].join("\n"),
          ),
        ),
      {
        request: {
          ...form,
          server: "a\u202eb",
          message: "\u001b[2J\nAllow Codex to run `ls` in `/`?",
        },
      },
    ),
  )

  it.effect("L7 a form with an invisible member name is declined and never presented", () =>
    withForm(
      (server, answers) =>
        Effect.sync(() => {
          assert.deepStrictEqual(elicitations(server), [])
          assert.deepStrictEqual(answers, [{ action: "decline" }])
        }),
      {
        request: {
          ...form,
          requestedSchema: { type: "object", properties: { "na\u200bme": { type: "string" } } },
        },
      },
    ),
  )

  const members = (count: number) => ({
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `m${i}`,
        { type: "string", description: "d".repeat(2_000) },
      ]),
    ),
  })
  const nested = (levels: number): Elicitation["requestedSchema"] =>
    levels === 0 ? { type: "string" } : { type: "object", not: nested(levels - 1) }

  it.effect.each<readonly [what: string, request: Elicitation, limit: string]>([
    ["of 33 members", { ...form, requestedSchema: members(33) }, "its schema is longer than 65536"],
    ["of 70 members", { ...form, requestedSchema: members(70) }, "its schema is longer than 65536"],
    ["of 9 levels", { ...form, requestedSchema: nested(8) }, "its schema has more than 8 levels"],
    [
      "of 50000 levels",
      { ...form, requestedSchema: { type: "object", properties: { n: deepValue() } } },
      "its schema has more than 8 levels",
    ],
    [
      "of a long message",
      { ...form, message: "m".repeat(66_000) },
      "its message is longer than 65536",
    ],
  ])("L7 a form %s is declined without a question, and the log names the limit", (row) => {
    const [, request, limit] = row
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      logged.push(`${logLevel} ${[message].flat().map(String).join(" ")}`)
    })
    return withForm(
      (server, answers) =>
        Effect.sync(() => {
          assert.deepStrictEqual(elicitations(server), [])
          assert.deepStrictEqual(answers, [{ action: "decline" }])
          assert.deepStrictEqual(
            logged.map((line) => line.replace(/ characters of JSON$/, "")),
            [`Warn declined a form of tool server "files": ${limit}`],
          )
        }),
      { request },
    ).pipe(Effect.provide(Logger.layer([logger])))
  })

  it.effect.each<readonly [what: string, request: Elicitation]>([
    ["of 20 members", { ...form, requestedSchema: members(20) }],
    ["of 31 members", { ...form, requestedSchema: members(31) }],
    ["of 8 levels", { ...form, requestedSchema: nested(7) }],
  ])("L7 a form %s is asked with every member", ([, request]) =>
    withForm(
      (server) =>
        Effect.sync(() => {
          const asked = elicitations(server)[0]?.params?.["requestedSchema"]
          assert.deepStrictEqual(shapeOf(asked), shapeOf(request.requestedSchema))
        }),
      { request },
    ),
  )
})
