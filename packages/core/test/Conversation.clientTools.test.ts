import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Answers } from "../src/approvals/Approval.ts"
import type { ClientTool } from "../src/ClientTool.ts"
import { SubmissionRefused } from "../src/ConversationErrors.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import { toStored, withStored } from "../src/store/Settings.ts"
import {
  answer,
  callItem,
  completed,
  done,
  eventsOf,
  isEnd,
  isType,
  open,
  says,
  settings,
  takeUntil,
  tools,
} from "./support.ts"

const look: ClientTool = { name: "look", description: "Looks.", inputSchema: { type: "object" } }

/** A conversation whose model calls the tool, and a listener that answers these kinds of questions. */
const calling = Effect.fnUntraced(function* (
  answers: Answers,
  more: Partial<ConversationSettings> = {},
) {
  const scene = yield* open([[done(callItem("look", "c")), completed], answer("end")], {
    settings: { ...settings, clientTools: [look], ...more },
    tools: tools({}),
  })
  const scope = yield* Scope.make()
  const listener = yield* Scope.provide(scene.conversation.attach({ answers }), scope)
  yield* scene.conversation.submit(says("hi"))
  return { ...scene, listener, leave: Scope.close(scope, Exit.void) }
})

const failure = "dynamic tool request failed: no connected client can run the tool"

describe("the tools of the clients of a conversation", () => {
  it.effect("a listener that runs them is asked, and the first answer counts", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { conversation, listener } = yield* calling("calls")
        const before = yield* takeUntil(listener, isType("client_tool_call"))
        assert.deepInclude(eventsOf(before).at(-1)?.msg, { call_id: "c", tool: "look" })
        const result = {
          type: "client_tool_result",
          id: "c",
          success: true,
          content: [{ type: "input_text", text: "seen" }],
        } as const
        const foreign = yield* Effect.flip(
          conversation.submit({ type: "elicitation_answer", id: "c", action: "accept" }),
        )
        assert.deepInclude(foreign, { reason: "ForeignApproval" })
        yield* conversation.submit(result)
        const late = yield* Effect.flip(conversation.submit(result))
        assert.instanceOf(late, SubmissionRefused)
        const rest = eventsOf(yield* takeUntil(listener, isEnd)).map(({ msg }) => msg)
        assert.deepInclude(
          rest.find(({ type }) => type === "tool_call_end"),
          { result: { Ok: "seen" }, content: result.content },
        )
        assert.deepInclude(rest.at(-1), { type: "task_complete", last_agent_message: "end" })
      }),
    ),
  )

  for (const unattended of ["deny", "park"] as const) {
    it.effect(`a call fails at once where no listener runs tools, with ${unattended}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { listener } = yield* calling("all", { unattended })
          const events = eventsOf(yield* takeUntil(listener, isEnd)).map(({ msg }) => msg)
          assert.isFalse(events.some(({ type }) => type === "client_tool_call"))
          assert.deepInclude(
            events.find(({ type }) => type === "tool_call_end"),
            { result: { Err: failure } },
          )
        }),
      ),
    )
  }

  it.effect("a call fails when the last listener that runs tools detaches", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { conversation, leave, listener } = yield* calling("everything")
        const watching = yield* conversation.attach({ answers: "all", from: 0 })
        yield* takeUntil(listener, isType("client_tool_call"))
        yield* leave
        const events = eventsOf(yield* takeUntil(watching, isEnd)).map(({ msg }) => msg)
        assert.deepInclude(
          events.find(({ type }) => type === "approval_resolved"),
          { call_id: "c", decision: "denied", reason: "unattended" },
        )
        assert.deepInclude(
          events.find(({ type }) => type === "tool_call_end"),
          { result: { Err: failure } },
        )
      }),
    ),
  )

  it("are stored with the conversation", () => {
    const stored = toStored({ ...settings, clientTools: [look] })
    assert.deepStrictEqual(withStored(settings, stored).clientTools, [look])
  })
})
