import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { asking, type Asked, exec, initialize, oneCall } from "../../../support/Asking.ts"
import {
  cancelled,
  type Harness,
  type HarnessOptions,
  listed,
  withServer,
} from "../../../support/Harness.ts"
import { saying } from "../../../support/Stateless.ts"
import { contentOf, threadOf, type WireMessage } from "../../../support/Wire.ts"

const forms = { elicitation: {} }
const withEvents = { elicitation: {}, experimental: { "codex/event": {} } }

const codex = (more: Readonly<Record<string, unknown>> = {}, capabilities: unknown = forms) =>
  saying({ name: "codex", arguments: { prompt: "ask" }, ...more }, capabilities)

interface Question {
  readonly inputRequests: Readonly<
    Record<string, { readonly method: string; readonly params: Readonly<Record<string, unknown>> }>
  >
  readonly requestState: string
}

const questionOf = ({ error, result }: WireMessage): Question => {
  assert.deepStrictEqual([error, result?.["resultType"]], [undefined, "input_required"])
  return result as unknown as Question
}

/** The text of the original; the lines below it are not compared here. */
const sentenceOf = (message: unknown) => String(message).split("\n")[0]

const keys = ({ inputRequests }: Question) => Object.keys(inputRequests)

const decided = (decision: string) => ({ action: "accept", content: { decision } })

const answering = (question: Question, answer: unknown) => ({
  requestState: question.requestState,
  inputResponses: Object.fromEntries(keys(question).map((key) => [key, answer])),
})

const complete = ({ error, result }: WireMessage) => {
  const content = result?.["content"] as ReadonlyArray<{ readonly text: string }> | undefined
  return [error, result?.["resultType"], result?.["isError"], content?.[0]?.text]
}

const done = [undefined, "complete", undefined, "done"]

const withAsked = <A, E>(
  asked: Asked,
  body: (server: Harness) => Effect.Effect<A, E, Scope.Scope>,
  options: HarnessOptions = {},
) => withServer({ script: oneCall, tools: asked.tools, ...options }, body)

const approved = { decision: "approved", reason: "answered" } as const
const denied = { decision: "denied", reason: "answered" } as const

const second = { ...exec, callId: "d", command: ["rm", "made.txt"] } as ApprovalRequest

describe("codex without a handshake", () => {
  it.effect("answers a turn without questions as in any revision", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.ask(1, "tools/call", codex())
        const threadId = threadOf(answer)
        assert.deepStrictEqual(
          [answer.result?.["resultType"], answer.result?.["content"], server.messages.length],
          ["complete", contentOf(threadId, "mock default answer"), 1],
        )
        const reply = { prompt: "more", threadId }
        const next = yield* server.ask(
          2,
          "tools/call",
          codex({ name: "codex-reply", arguments: reply }),
        )
        assert.deepStrictEqual(complete(next).slice(0, 3), [undefined, "complete", undefined])
      }),
    ),
  )

  it.effect(
    "L7 carries the turn's question in its result, and continues with the client's answer",
    () => {
      const asked = asking([exec])
      return withAsked(asked, (server) =>
        Effect.gen(function* () {
          const question = questionOf(yield* server.ask(1, "tools/call", codex()))
          const [key = ""] = keys(question)
          const { method, params } = question.inputRequests[key] ?? { method: "", params: {} }
          assert.deepStrictEqual(
            [keys(question).length, method, sentenceOf(params["message"]), params["codex_call_id"]],
            [1, "elicitation/create", "Allow Codex to run `touch made.txt` in `/workspace`?", "c"],
          )
          const answer = answering(question, decided("approved"))
          assert.deepStrictEqual(complete(yield* server.ask(2, "tools/call", codex(answer))), done)
          assert.deepStrictEqual(asked.verdicts, [approved])
          assert.deepStrictEqual(
            server.messages.filter((one) => one.method !== undefined),
            [],
          )
        }),
      )
    },
  )

  it.effect("L7 asks several questions one after the other, each in its own result", () => {
    const asked = asking([exec, second])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const first = questionOf(yield* server.ask(1, "tools/call", codex()))
        const next = questionOf(
          yield* server.ask(2, "tools/call", codex(answering(first, decided("denied")))),
        )
        assert.notDeepEqual(keys(first), keys(next))
        const last = yield* server.ask(3, "tools/call", codex(answering(next, decided("approved"))))
        assert.deepStrictEqual(complete(last), done)
        assert.deepStrictEqual(asked.verdicts, [denied, approved])
      }),
    )
  })

  it.effect(
    "L7 asks simultaneous questions in one result, and again only those that are pending",
    () => {
      const verdicts: Array<Verdict> = []
      const tools = ToolRuntime.simple({
        specs: () => [],
        run: (_, context) =>
          Effect.gen(function* () {
            const both = [exec, second].map((request) => context.approve(request))
            verdicts.push(...(yield* Effect.all(both, { concurrency: "unbounded" })))
            return "asked"
          }),
      })
      return withAsked({ tools, verdicts }, (server) =>
        Effect.gen(function* () {
          const first = questionOf(yield* server.ask(1, "tools/call", codex()))
          const [one = "", two = ""] = keys(first)
          assert.strictEqual(keys(first).length, 2)
          const half = {
            requestState: first.requestState,
            inputResponses: { [two]: decided("denied") },
          }
          const next = questionOf(yield* server.ask(2, "tools/call", codex(half)))
          assert.deepStrictEqual(next.inputRequests, {
            [one]: {
              ...first.inputRequests[one],
              params: { ...first.inputRequests[one]?.params, codex_mcp_tool_call_id: "2" },
            },
          } as Question["inputRequests"])
          const last = yield* server.ask(
            3,
            "tools/call",
            codex(answering(next, decided("approved"))),
          )
          assert.deepStrictEqual([complete(last), verdicts], [done, [approved, denied]])
        }),
      )
    },
  )

  it.effect("L7 a question between two calls of the client waits for the second one", () => {
    const verdicts: Array<Verdict> = []
    const tools = ToolRuntime.simple({
      specs: () => [],
      run: (_, context) =>
        Effect.gen(function* () {
          const later = Effect.delay(context.approve(second), "1 minute")
          const both = [context.approve(exec), later]
          verdicts.push(...(yield* Effect.all(both, { concurrency: "unbounded" })))
          return "asked"
        }),
    })
    return withAsked({ tools, verdicts }, (server) =>
      Effect.gen(function* () {
        const first = questionOf(yield* server.ask(1, "tools/call", codex()))
        assert.strictEqual(keys(first).length, 1)
        yield* TestClock.adjust("1 minute")
        yield* server.quiet
        const next = questionOf(
          yield* server.ask(2, "tools/call", codex(answering(first, decided("approved")))),
        )
        assert.notDeepEqual(keys(next), keys(first))
        const last = yield* server.ask(3, "tools/call", codex(answering(next, decided("denied"))))
        assert.deepStrictEqual([complete(last), verdicts], [done, [approved, denied]])
      }),
    )
  })

  it.effect.each<readonly [what: string, answers: unknown]>([
    ["nothing", {}],
    ["something else", { other: decided("approved") }],
    ["a text that is no decision", undefined],
  ])("L7 asks again when the client returns %s", ([, answers]) => {
    const asked = asking([exec])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const first = questionOf(yield* server.ask(1, "tools/call", codex()))
        const again = questionOf(
          yield* server.ask(
            2,
            "tools/call",
            codex(
              answers === undefined
                ? answering(first, decided("perhaps"))
                : { requestState: first.requestState, inputResponses: answers },
            ),
          ),
        )
        assert.deepStrictEqual([keys(again), asked.verdicts], [keys(first), []])
        const last = yield* server.ask(
          3,
          "tools/call",
          codex(answering(again, decided("approved"))),
        )
        assert.deepStrictEqual(complete(last), done)
      }),
    )
  })

  it.effect("L7 without an answer it is denied at the deadline, and the turn continues", () => {
    const asked = asking([exec])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const question = questionOf(yield* server.ask(1, "tools/call", codex()))
        yield* TestClock.adjust("2 days")
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts.length, 1)
        assert.strictEqual(asked.verdicts[0]?.decision, "denied")
        const late = yield* server.ask(
          2,
          "tools/call",
          codex(answering(question, decided("approved"))),
        )
        assert.strictEqual(late.error?.code, -32602)
      }),
    )
  })

  it.effect(
    "L7 an answer that arrives too late changes nothing, and the client gets the result",
    () => {
      const asked = asking([exec])
      return withAsked(asked, (server) =>
        Effect.gen(function* () {
          const question = questionOf(
            yield* server.ask(
              1,
              "tools/call",
              codex({ arguments: { prompt: "ask", config: { approval_timeout_sec: 60 } } }),
            ),
          )
          yield* TestClock.adjust("61 seconds")
          yield* server.quiet
          const late = yield* server.ask(
            2,
            "tools/call",
            codex({
              arguments: { prompt: "ask", config: { approval_timeout_sec: 60 } },
              ...answering(question, decided("approved")),
            }),
          )
          assert.deepStrictEqual(complete(late), done)
          assert.strictEqual(asked.verdicts[0]?.decision, "denied")
        }),
      )
    },
  )

  it.effect("the same state again gives the same result, and starts no other turn", () => {
    const asked = asking([exec])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const question = questionOf(yield* server.ask(1, "tools/call", codex()))
        const answer = codex(answering(question, decided("approved")))
        assert.deepStrictEqual(complete(yield* server.ask(2, "tools/call", answer)), done)
        assert.deepStrictEqual(complete(yield* server.ask(3, "tools/call", answer)), done)
        const other = codex(answering(question, decided("denied")))
        assert.deepStrictEqual(complete(yield* server.ask(4, "tools/call", other)), done)
        assert.deepStrictEqual(asked.verdicts, [approved])
      }),
    )
  })

  it.effect("the client may call again over another connection", () => {
    const asked = asking([exec])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const question = questionOf(yield* server.ask(1, "tools/call", codex()))
        yield* server.connection.close
        yield* server.quiet
        const other = yield* server.another
        const answer = codex(answering(question, decided("approved")))
        assert.deepStrictEqual(complete(yield* other.ask(1, "tools/call", answer)), done)
      }),
    )
  })

  it.effect(
    "a client that declares no forms is asked nothing: the setting `unattended` decides",
    () => {
      const asked = asking([exec])
      return withAsked(asked, (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask(1, "tools/call", codex({}, {}))
          assert.deepStrictEqual(
            [result?.["resultType"], asked.verdicts[0]?.decision],
            ["complete", "denied"],
          )
          const meta = result?.["_meta"] as Readonly<Record<string, unknown>>
          assert.deepStrictEqual(Object.keys(meta), [
            "colloquy/unattended",
            "io.modelcontextprotocol/serverInfo",
          ])
        }),
      )
    },
  )

  it.effect("L14 a cancelled call interrupts the turn", () => {
    const asked = asking([exec, second])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const question = questionOf(yield* server.ask(1, "tools/call", codex()))
        const answer = codex(answering(question, decided("approved")))
        yield* server.send(
          { jsonrpc: "2.0", id: 2, method: "tools/call", params: answer },
          cancelled(2),
        )
        yield* server.quiet
        const [id] = yield* listed(server.manager)
        const conversation = yield* server.manager.get(id ?? ConversationId.make(""))
        assert.deepStrictEqual(
          [server.messages.filter((one) => one.id === 2), (yield* conversation.state).turn],
          [[], undefined],
        )
      }),
    )
  })
})

describe("codex/event without a handshake", () => {
  it.effect("is sent to a request that asks for it, before its response, each event once", () => {
    const asked = asking([exec])
    return withAsked(asked, (server) =>
      Effect.gen(function* () {
        const question = questionOf(yield* server.ask(1, "tools/call", codex({}, withEvents)))
        const first = server.messages.length
        yield* server.quiet
        // No message follows the response.
        assert.strictEqual(server.messages.length, first)
        const answer = codex(answering(question, decided("approved")), withEvents)
        assert.deepStrictEqual(complete(yield* server.ask(2, "tools/call", answer)), done)
        const types = server.messages.map(({ id, method, params }) =>
          method === undefined
            ? id
            : (params?.["msg"] as { readonly type: string } | undefined)?.type,
        )
        assert.deepStrictEqual(
          types.filter((type) => type !== "token_count"),
          [
            "session_configured",
            "task_started",
            "exec_approval_request",
            1,
            "agent_message_delta",
            "agent_message",
            "task_complete",
            2,
          ],
        )
      }),
    )
  })

  it.effect.each<readonly [declared: unknown, isSent: boolean]>([
    [{}, false],
    [{ experimental: { "codex/event": false } }, false],
    [{ experimental: { "codex/event": { enabled: false } } }, false],
    [{ experimental: { "codex/event": {} } }, true],
    [{ extensions: { "colloquy/codex-event": {} } }, true],
  ])("of a client that declares %j", ([declared, isSent]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        // The revision that the connection negotiated does not matter.
        yield* server.send(initialize({ elicitation: {} }))
        yield* server.response("i")
        yield* server.ask(1, "tools/call", codex({}, declared))
        assert.strictEqual(
          server.messages.some(({ method }) => method === "codex/event"),
          isSent,
        )
      }),
    ),
  )
})
