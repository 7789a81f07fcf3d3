import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import { assert, describe, it } from "@effect/vitest"
import { type Event } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import type { ElicitParams } from "@colloquy/protocol/mcp/Elicitation"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Elicitations from "../../../src/mcp/elicitation/Elicitations.ts"
import {
  asking,
  elicitations,
  exec,
  initialize,
  questionId,
  responses,
  result,
  withdrawn,
  withQuestion,
} from "../../support/Asking.ts"
import { cancelled, type Harness, listed, toolCall } from "../../support/Harness.ts"
import { callResult, textOf, threadOf, typesOf, type WireMessage } from "../../support/Wire.ts"

const conversationOf = Effect.fnUntraced(function* ({ manager }: Harness) {
  const [id = ""] = yield* listed(manager)
  return yield* Effect.orDie(manager.get(id))
})

const onlyText = (server: Harness, id: unknown) => {
  const [answer, ...more] = responses(server, id)
  assert.deepStrictEqual(more, [])
  return answer === undefined ? undefined : textOf(answer)
}

const patch: ApprovalRequest = {
  _tag: "Patch",
  callId: "c",
  changes: {
    "/workspace/hello.txt": {
      update: { unified_diff: "@@ -1,2 +1,2 @@\n-hello\n+goodbye\n world\n", move_path: null },
    },
  },
}

const form = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      enum: ["approved", "approved_for_session", "denied", "abort"],
      enumNames: [
        "Yes",
        "Yes, and as the question says for the session",
        "No, go on without it",
        "No, and stop",
      ],
    },
  },
  required: ["decision"],
}

/** The question about `exec`, which runs in the sandbox once approved. */
const execReason = [
  "If approved, it runs in the sandbox: it can change no file and not use the network.",
  "Approved for the session, exactly this command in this directory runs so again without a question: in this conversation and its forks, also after a restart.",
].join("\n")

const patchReason = [
  "If approved, these files are changed without the sandbox, and no other file is.",
  'Approved for the session, every later patch that names this directory too may change files below it without a question, in this conversation and its forks, also after a restart: "/workspace"',
  "Files (1 update):",
  '  update "/workspace/hello.txt" (outside the working directory)',
  'It asks for permission to change files below: "/workspace"',
  'It is asked because: "why"',
].join("\n")

describe("elicitation/create: the question", () => {
  it.effect("asks about a command in the original's words and order, after its event", () =>
    withQuestion(asking([exec]), (server) =>
      Effect.gen(function* () {
        const [thread] = yield* listed(server.manager)
        assert.deepStrictEqual(
          server.messages.slice(-2).map(({ method }) => method),
          ["codex/event", "elicitation/create"],
        )
        assert.strictEqual(typesOf(server.messages, 2).at(-1), "exec_approval_request")
        assert.strictEqual(
          server.texts.at(-1),
          JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "elicitation/create",
            params: {
              message: `Allow Codex to run \`touch made.txt\` in \`/workspace\`?\n${execReason}`,
              requestedSchema: form,
              threadId: thread,
              codex_elicitation: "exec-approval",
              codex_mcp_tool_call_id: "2",
              codex_event_id: "2",
              codex_call_id: "c",
              codex_command: ["touch", "made.txt"],
              codex_cwd: "/workspace",
              codex_parsed_cmd: [{ type: "unknown", cmd: "touch made.txt" }],
              codex_reason: execReason,
            },
          }),
        )
      }),
    ),
  )

  it.effect(
    "asks about a patch with its changes, its reason and the root that it would grant",
    () =>
      withQuestion(asking([{ ...patch, reason: "why", grantRoot: "/workspace" }]), (server) =>
        Effect.gen(function* () {
          const [thread] = yield* listed(server.manager)
          assert.deepStrictEqual(
            elicitations(server).map(({ params }) => params),
            [
              {
                message: `Allow Codex to apply proposed code changes?\n${patchReason}`,
                requestedSchema: form,
                threadId: thread,
                codex_elicitation: "patch-approval",
                codex_mcp_tool_call_id: "2",
                codex_event_id: "2",
                codex_call_id: "c",
                codex_changes: patch._tag === "Patch" ? patch.changes : {},
                codex_reason: patchReason,
                codex_grant_root: "/workspace",
              },
            ],
          )
        }),
      ),
  )

  it.effect.each<readonly [capability: unknown, asked: boolean]>([
    [{ elicitation: {} }, true],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: null }, false],
    [{ elicitation: false }, false],
    [{ elicitation: [] }, false],
    [{}, false],
  ])("L7 a client that declared %j is asked: %s", ([capabilities, expected]) => {
    const asked = asking([exec])
    return withQuestion(
      asked,
      (server) =>
        Effect.sync(() => {
          assert.strictEqual(elicitations(server).length, expected ? 1 : 0)
          if (expected) return
          assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "unattended" }])
          assert.strictEqual(onlyText(server, 2), "done")
        }),
      { capabilities },
    )
  })

  it.effect("L7 without a handshake no client is asked", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), { decision: "denied" }))
        yield* server.quiet
        const another = yield* server.another
        yield* another.send(toolCall(2, "codex", { prompt: "ask" }))
        yield* another.quiet
        assert.deepStrictEqual(elicitations(another), [])
      }),
    )
  })
})

describe("elicitation/create: the answer", () => {
  it.effect.each<readonly [answer: unknown, decision: string]>([
    [{ decision: "approved" }, "approved"],
    [{ decision: "approved_for_session" }, "approved_for_session"],
    [{ decision: "denied" }, "denied"],
    [{ action: "accept", content: { decision: "approved" } }, "approved"],
    [{ action: "accept", content: { decision: "denied" } }, "denied"],
    [{ action: "accept" }, "approved"],
    [{ action: "decline" }, "denied"],
    [{ action: "cancel" }, "denied"],
    [{ action: "cancel", decision: "approved" }, "denied"],
    [{ action: "cancel", content: { decision: "approved" } }, "denied"],
    [{ action: "accept", decision: "approved" }, "approved"],
    [{ action: "accept", content: { decision: null } }, "approved"],
    [{ action: "accept", content: null, decision: null }, "approved"],
    [{ action: null, decision: "approved" }, "approved"],
    [{ action: null, decision: "denied", content: null }, "denied"],
  ])("L7 %j means %s", ([answer, decision]) => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), answer))
        yield* server.quiet
        assert.deepStrictEqual<unknown>(asked.verdicts, [{ decision, reason: "answered" }])
        assert.strictEqual(onlyText(server, 2), "done")
        assert.deepStrictEqual(withdrawn(server), [])
      }),
    )
  })

  it.effect("L7 a patch whose question is cancelled is denied, and the turn continues", () => {
    const asked = asking([patch])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), { action: "cancel" }))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "answered" }])
        assert.strictEqual(onlyText(server, 2), "done")
      }),
    )
  })

  it.effect.each<unknown>([
    { decision: "abort" },
    { action: "accept", content: { decision: "abort" } },
    { action: "cancel", decision: "abort" },
    { action: "decline", decision: "abort" },
  ])("L14 %j stops the turn, and the call is answered", (answer) =>
    withQuestion(asking([exec]), (server) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), answer))
        yield* server.quiet
        assert.strictEqual(typesOf(server.messages, 2).at(-1), "turn_aborted")
        assert.strictEqual(onlyText(server, 2), "Turn interrupted")
        const thread = threadOf(responses(server, 2)[0] ?? {})
        const after = yield* server.call(3, "codex-reply", { threadId: thread, prompt: "go on" })
        assert.strictEqual(textOf(after), "done")
      }),
    ),
  )

  it.effect.each<unknown>([
    null,
    "approved",
    1,
    [],
    {},
    { foo: 1 },
    { action: null, decision: null },
    { decision: null },
    { decision: "maybe" },
    { decision: { decision: "approved" } },
    { content: { decision: "approved" } },
    { action: "yes", content: { decision: "approved" } },
    { action: "accept", content: { decision: "maybe" } },
    { action: "accept", content: { other: "approved" } },
    { action: "accept", content: { content: { decision: "approved" } } },
    { action: "accept", content: "approved" },
    { action: "accept", content: { decision: "denied" }, decision: "approved" },
  ])("L7 the unreadable answer %j is a denial with its reason", (answer) => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), answer))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "malformed" }])
        assert.strictEqual(onlyText(server, 2), "done")
      }),
    )
  })

  it.effect("L7 an error is a denial with its reason, never a hang", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const error = { code: -32601, message: "elicitation not supported" }
        yield* server.send({ jsonrpc: "2.0", id: questionId(server), error })
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "failed" }])
        assert.strictEqual(onlyText(server, 2), "done")
      }),
    )
  })

  it.effect("L7 what was approved for the session is not asked again", () => {
    const asked = asking([exec, exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.send(result(questionId(server), { decision: "approved_for_session" }))
        yield* server.quiet
        assert.strictEqual(elicitations(server).length, 1)
        assert.deepStrictEqual(asked.verdicts, [
          { decision: "approved_for_session", reason: "answered" },
          { decision: "approved", reason: "granted" },
        ])
      }),
    )
  })

  it.effect("L7 no answer counts for a second question of the same call", () => {
    const asked = asking([exec, exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const yes = result(questionId(server), { decision: "approved" })
        yield* server.send(yes, yes, { ...yes, id: "1" })
        yield* server.quiet
        yield* server.send(yes)
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
        assert.deepStrictEqual(
          elicitations(server).map(({ id }) => id),
          [1, 2],
        )
        yield* server.send(result(questionId(server, 1), { decision: "denied" }))
        yield* server.quiet
        assert.strictEqual(asked.verdicts[1]?.decision, "denied")
        assert.strictEqual(onlyText(server, 2), "done")
      }),
    )
  })
})

describe("elicitation/create: the end of a question", () => {
  const lateYes = (server: Harness) =>
    Effect.andThen(server.send(result(questionId(server), { decision: "approved" })), server.quiet)

  it.effect("L7 without an answer in time the question is withdrawn and denied", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("9 minutes")
        assert.deepStrictEqual(withdrawn(server), [])
        yield* TestClock.adjust("1 minute")
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        assert.strictEqual(onlyText(server, 2), "done")
        const sent = server.messages.length
        yield* lateYes(server)
        assert.strictEqual(server.messages.length, sent)
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "expired" }])
      }),
    )
  })

  it.effect("L14 an interrupt withdraws the question, then the turn ends", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const conversation = yield* conversationOf(server)
        const before = server.messages.length
        yield* Effect.orDie(conversation.submit({ type: "interrupt" }))
        yield* server.quiet
        assert.strictEqual(server.messages[before]?.method, "notifications/cancelled")
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        assert.strictEqual(typesOf(server.messages, 2).at(-1), "turn_aborted")
        assert.strictEqual(onlyText(server, 2), "Turn interrupted")
        const sent = server.messages.length
        yield* lateYes(server)
        assert.strictEqual(server.messages.length, sent)
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "withdrawn" }])
      }),
    )
  })

  it.effect("L14 a cancelled call withdraws its question and gets no response", () =>
    withQuestion(asking([exec]), (server) =>
      Effect.gen(function* () {
        yield* server.send(cancelled(2))
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        assert.strictEqual(typesOf(server.messages, 2).at(-1), "turn_aborted")
        yield* lateYes(server)
        assert.deepStrictEqual(responses(server, 2), [])
        const conversation = yield* conversationOf(server)
        assert.isUndefined((yield* conversation.state).turn)
      }),
    ),
  )

  it.effect("L9 at the end of input the turn is interrupted and its call gets a response", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.connection.close
        yield* server.quiet
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(server.server)
        assert.deepStrictEqual(
          responses(server, 2).map(({ error }) => error?.code),
          [-32000],
        )
        const conversation = yield* conversationOf(server)
        const { approvals, turn } = yield* conversation.state
        assert.deepStrictEqual([approvals.open, turn], [[], undefined])
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "withdrawn" }])
      }),
    )
  })
})

describe("elicitation/create: several calls of one connection", () => {
  it.effect(
    "leaves a question to the call that runs the turn, whichever listener gets it first",
    () =>
      Effect.gen(function* () {
        const put: Array<unknown> = []
        const call = (requestId: number) => ({
          conversation: {
            id: ConversationId.make("0199f0a0-0000-7000-8000-000000000001"),
            submit: () => Effect.die("no answer expected"),
            attach: () => Effect.die("no listener expected"),
            cancel: () => Effect.void,
          },
          requestId,
          peer: {
            notify: () => Effect.void,
            request: (_: unknown, params: unknown) => {
              put.push((params as ElicitParams).codex_mcp_tool_call_id)
              return Effect.never
            },
            cancel: () => Effect.void,
            passed: () => Effect.void,
          },
        })
        const question: Event = {
          seq: 7,
          id: "turn",
          msg: {
            type: "exec_approval_request",
            call_id: "c",
            command: ["x"],
            cwd: "/",
          },
        }
        const elicitations = yield* Elicitations.make
        const scope = yield* Scope.make()
        const runner = yield* Scope.provide(elicitations.of(call(2)), scope)
        runner.ownTurn("turn")
        const other = yield* elicitations.of(call(3))
        yield* other.put(question)
        assert.deepStrictEqual(put, [])
        yield* runner.put(question)
        yield* other.put(question)
        yield* runner.put(question)
        assert.deepStrictEqual(put, ["2"])
        yield* Scope.close(scope, Exit.void)
        yield* other.put(question)
        assert.deepStrictEqual(put, ["2", "3"])
      }),
  )
})

describe("elicitation/create: several clients that can answer", () => {
  /** Another connection with a call that waits for the turn of call 2. */
  const waiting = Effect.fnUntraced(function* (server: Harness, ...ids: ReadonlyArray<number>) {
    const another = yield* server.another
    const [thread] = yield* listed(server.manager)
    yield* another.send(initialize({ elicitation: {} }))
    for (const id of ids) {
      yield* another.send(toolCall(id, "codex-reply", { threadId: thread, prompt: "next" }))
    }
    yield* another.quiet
    return another
  })
  const idsOf = (messages: ReadonlyArray<WireMessage>) => messages.map(({ id }) => id)

  it.effect("L7 each is asked, the first answer counts, and the others are notified", () => {
    const asked = asking([exec, exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const another = yield* waiting(server, 7)
        assert.deepStrictEqual(
          elicitations(another).map(({ params }) => [
            params?.["codex_mcp_tool_call_id"],
            params?.["codex_event_id"],
          ]),
          [["7", "2"]],
        )
        yield* another.send(result(questionId(another), { decision: "approved" }))
        yield* another.quiet
        assert.deepStrictEqual([withdrawn(server), withdrawn(another)], [[1], []])
        assert.deepStrictEqual([elicitations(server), elicitations(another)].map(idsOf), [
          [1, 2],
          [1, 2],
        ])
        yield* server.send(result(questionId(server), { decision: "approved" }))
        yield* server.quiet
        assert.strictEqual(asked.verdicts.length, 1)
        yield* server.send(result(questionId(server, 1), { decision: "denied" }))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts[1], { decision: "denied", reason: "answered" })
        assert.deepStrictEqual([withdrawn(server), withdrawn(another)], [[1], [2]])
        assert.strictEqual(onlyText(server, 2), "done")
        assert.strictEqual(onlyText(another, 7), "later")
      }),
    )
  })

  it.effect("L7 one connection is asked once, with the id of the call that runs the turn", () => {
    const asked = asking([exec, exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const [thread] = yield* listed(server.manager)
        yield* server.send(toolCall(3, "codex-reply", { threadId: thread, prompt: "next" }))
        yield* server.quiet
        const another = yield* waiting(server, 7, 8)
        yield* server.send(result(questionId(server), { decision: "denied" }))
        yield* server.quiet
        const names = (harness: Harness) =>
          elicitations(harness).map(({ params }) => params?.["codex_mcp_tool_call_id"])
        assert.deepStrictEqual(names(server), ["2", "2"])
        assert.deepStrictEqual(names(another), ["7", "7"])
      }),
    )
  })

  it.effect("L7 the end of one connection denies nothing to another", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const another = yield* waiting(server, 7)
        yield* another.connection.close
        yield* another.quiet
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(another.server)
        assert.deepStrictEqual(asked.verdicts, [])
        yield* server.send(result(questionId(server), { decision: "approved" }))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
      }),
    )
  })

  it.effect("L7 a pending question is presented to the client that can answer it", () => {
    const asked = asking([exec])
    return withQuestion(
      asked,
      (server) =>
        Effect.gen(function* () {
          assert.deepStrictEqual([elicitations(server), asked.verdicts], [[], []])
          const another = yield* waiting(server, 7)
          yield* another.send(
            result(questionId(another), { action: "accept", content: { decision: "approved" } }),
          )
          yield* another.quiet
          assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
          assert.strictEqual(callResult(responses(server, 2)[0] ?? {}).isError, undefined)
        }),
      { capabilities: {}, config: { unattended: "park" } },
    )
  })
})
