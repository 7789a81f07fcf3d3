import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import {
  created,
  eventsOf,
  hello,
  listening,
  outline,
  say,
  withApp,
  type Refusal,
} from "../../support/AppHarness.ts"
import { asking, exec, oneCall } from "../../support/Asking.ts"
import type { Harness } from "../../support/Harness.ts"

const patch: ApprovalRequest = {
  _tag: "Patch",
  callId: "c",
  changes: { "/workspace/a.txt": { add: { content: "x\n" } } },
  reason: "because",
  grantRoot: "/workspace",
}

/** What a client of this dialect displays next to the command or the changes. */
const execReason = [
  "If approved, it runs in the sandbox: it can change no file and not use the network.",
  "Approved for the session, exactly this command in this directory runs so again without a question: in this conversation and its forks, also after a restart.",
].join("\n")

const patchReason = [
  "If approved, these files are changed without the sandbox, and no other file is.",
  'Approved for the session, every later patch that names this directory too may change files below it without a question, in this conversation and its forks, also after a restart: "/workspace"',
  "Files (1 add):",
  '  add "/workspace/a.txt" (outside the working directory)',
  'It asks for permission to change files below: "/workspace"',
  'It is asked because: "because"',
].join("\n")

const questions = ({ messages }: Harness) =>
  messages.filter(({ id, method }) => method !== undefined && id !== undefined)

const withdrawn = ({ messages }: Harness) =>
  messages.flatMap(({ method, params }) => (method === "$/cancelRequest" ? [params?.["id"]] : []))

/** A conversation with a pending question. */
const asked = Effect.fnUntraced(function* (app: Harness, more: object = {}) {
  const conversationId = yield* created(app)
  yield* listening(app, conversationId, more)
  yield* say(app, conversationId, "hi")
  yield* app.quiet
  return conversationId
})

const resolutions = (app: Harness) =>
  eventsOf(app).flatMap(({ params }) => {
    const msg = params?.["msg"] as Readonly<Record<string, unknown>>
    return msg["type"] === "approval_resolved" ? [[msg["decision"], msg["reason"]]] : []
  })

describe("V1Approvals", () => {
  it.effect("puts the question about a command after its event, in camelCase", () =>
    withApp({ script: oneCall, tools: asking([exec]).tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* asked(app)
        const [question] = questions(app)
        assert.deepStrictEqual(
          { method: question?.method, params: question?.params },
          {
            method: "execCommandApproval",
            params: {
              conversationId,
              callId: "c",
              command: ["touch", "made.txt"],
              cwd: "/workspace",
              reason: execReason,
              parsedCmd: [{ type: "unknown", cmd: "touch made.txt" }],
            },
          },
        )
        assert.deepStrictEqual(outline(app).slice(-2), [
          "exec_approval_request",
          "? execCommandApproval",
        ])
      }),
    ),
  )

  it.effect("puts the question about a patch with its changes", () =>
    withApp({ script: oneCall, tools: asking([patch]).tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* asked(app)
        assert.deepStrictEqual(questions(app)[0]?.params, {
          conversationId,
          callId: "c",
          fileChanges: patch.changes,
          reason: patchReason,
          grantRoot: "/workspace",
        })
      }),
    ),
  )

  it.effect("puts questions in snake_case to a client that asks for it", () =>
    withApp(
      {
        script: oneCall,
        tools: asking([exec, patch]).tools,
        capabilities: { approvals: "snake_case" },
      },
      (app) =>
        Effect.gen(function* () {
          const conversation_id = yield* asked(app)
          yield* app.send({ id: questions(app)[0]?.id, result: { decision: "approved" } })
          yield* app.quiet
          assert.deepStrictEqual(
            questions(app).map(({ params }) => params),
            [
              {
                conversation_id,
                call_id: "c",
                command: ["touch", "made.txt"],
                cwd: "/workspace",
                reason: execReason,
              },
              {
                conversation_id,
                call_id: "c",
                file_changes: patch.changes,
                reason: patchReason,
                grant_root: "/workspace",
              },
            ],
          )
        }),
    ),
  )

  it.effect.each(["approved", "approved_for_session", "denied"] as const)(
    "the tool gets the answer `%s`",
    (decision) => {
      const { tools, verdicts } = asking([exec])
      return withApp({ script: oneCall, tools }, (app) =>
        Effect.gen(function* () {
          yield* asked(app)
          yield* app.send({ id: questions(app)[0]?.id, result: { decision } })
          yield* app.quiet
          assert.deepStrictEqual(verdicts, [{ decision, reason: "answered" }])
          assert.deepStrictEqual(withdrawn(app), [])
        }),
      )
    },
  )

  it.effect.each([
    [{ error: { code: -1, message: "no" } }, "failed"],
    [{ result: { decision: "allow" } }, "malformed"],
    [{ result: {} }, "malformed"],
    [{ result: null }, "malformed"],
    [{ result: { action: "accept" } }, "malformed"],
  ] as ReadonlyArray<Refusal>)("L7 %j is a denial", ([answer, reason]) => {
    const { tools, verdicts } = asking([exec])
    return withApp({ script: oneCall, tools }, (app) =>
      Effect.gen(function* () {
        yield* asked(app)
        yield* app.send({ id: questions(app)[0]?.id, ...answer })
        yield* app.quiet
        assert.deepStrictEqual(verdicts, [{ decision: "denied", reason } as (typeof verdicts)[0]])
      }),
    )
  })

  it.effect(
    "L7 two clients are asked, the first answer counts, and the other request is withdrawn",
    () => {
      const { tools, verdicts } = asking([exec])
      return withApp({ script: oneCall, tools }, (app) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* hello(other)
          const conversationId = yield* created(app)
          yield* listening(app, conversationId, { after: -1 })
          yield* listening(other, conversationId, { after: -1 })
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          yield* other.send({ id: questions(other)[0]?.id, result: { decision: "approved" } })
          yield* app.quiet
          assert.deepStrictEqual(withdrawn(app), [questions(app)[0]?.id])
          assert.deepStrictEqual(withdrawn(other), [])
          assert.deepStrictEqual(resolutions(app), [["approved", "answered"]])
          assert.deepStrictEqual(resolutions(other), [["approved", "answered"]])
          yield* app.send({ id: questions(app)[0]?.id, result: { decision: "denied" } })
          yield* app.quiet
          assert.deepStrictEqual(verdicts, [{ decision: "approved", reason: "answered" }])
        }),
      )
    },
  )

  it.effect("two listeners of one connection put a question once", () =>
    withApp({ script: oneCall, tools: asking([exec]).tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId, {}, 1)
        yield* listening(app, conversationId, {}, 2)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.strictEqual(questions(app).length, 1)
      }),
    ),
  )

  it.effect("L7 a pending question is put to a later listener, after the events before it", () => {
    const { tools, verdicts } = asking([exec])
    return withApp({ script: oneCall, tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* asked(app)
        const other = yield* app.another
        yield* hello(other)
        yield* listening(other, conversationId, { after: -1 })
        yield* app.quiet
        assert.deepStrictEqual(outline(other).slice(-3), [
          "exec_approval_request",
          "conversationSynced",
          "? execCommandApproval",
        ])
        yield* other.send({ id: questions(other)[0]?.id, result: { decision: "denied" } })
        yield* app.quiet
        assert.deepStrictEqual(verdicts, [{ decision: "denied", reason: "answered" }])
      }),
    )
  })

  it.effect(
    "is withdrawn with the last listener of the connection, and put again to the next",
    () =>
      withApp({ script: oneCall, tools: asking([exec]).tools }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          const first = yield* listening(app, conversationId, {}, 1)
          const second = yield* listening(app, conversationId, {}, 2)
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          yield* app.ask(3, "removeConversationListener", { subscriptionId: first })
          yield* app.quiet
          assert.deepStrictEqual(withdrawn(app), [])
          yield* app.ask(4, "removeConversationListener", { subscriptionId: second })
          yield* app.quiet
          assert.deepStrictEqual(withdrawn(app), [questions(app)[0]?.id])
          yield* listening(app, conversationId, {}, 5)
          yield* app.quiet
          assert.strictEqual(questions(app).length, 2)
        }),
      ),
  )

  it.effect("L7 a client that declares that it answers none is asked none", () => {
    const { tools, verdicts } = asking([exec])
    return withApp({ script: oneCall, tools, capabilities: { approvals: "none" } }, (app) =>
      Effect.gen(function* () {
        yield* asked(app)
        assert.deepStrictEqual(questions(app), [])
        assert.deepStrictEqual(verdicts, [{ decision: "denied", reason: "unattended" }])
      }),
    )
  })

  it.effect("`abort` interrupts the turn", () =>
    withApp({ script: oneCall, tools: asking([exec]).tools }, (app) =>
      Effect.gen(function* () {
        yield* asked(app)
        yield* app.send({ id: questions(app)[0]?.id, result: { decision: "abort" } })
        yield* app.quiet
        assert.strictEqual(outline(app).at(-1), "turn_aborted")
      }),
    ),
  )

  it.effect("keeps the questions of several conversations apart", () => {
    const { tools, verdicts } = asking([exec])
    const script: Script.ProviderScript = ({ lastUserText }) =>
      lastUserText === undefined
        ? Script.reply(Script.text("done"))
        : Script.reply(Script.toolCall("ask", {}, "c"))
    return withApp({ script, tools }, (app) =>
      Effect.gen(function* () {
        const ids: Array<string> = []
        for (const index of [0, 1, 2]) {
          const id = yield* created(app, {}, `new${index}`)
          yield* listening(app, id, {}, `listen${index}`)
          yield* say(app, id, "hi", {}, `say${index}`)
          ids.push(id)
        }
        yield* app.quiet
        assert.deepStrictEqual(
          questions(app)
            .map(({ params }) => String(params?.["conversationId"]))
            .toSorted(),
          ids.toSorted(),
        )
        assert.deepStrictEqual(verdicts, [])
      }),
    )
  })
})
