/** The approval policy with single switches. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, resultOf } from "../support/AppHarness.ts"
import * as Script from "@colloquy/testing/ProviderScript"
import { at, started, told, turn, withThreads } from "../support/Threading.ts"

const switches = {
  sandbox_approval: false,
  rules: false,
  skill_approval: false,
  request_permissions: false,
  mcp_elicitations: false,
}

type Switches = Partial<typeof switches> | { readonly [name: string]: boolean }

const policy = (on: Switches) => ({ granular: { ...switches, ...on } })

const call = [Script.reply(Script.toolCall("ask", {}, "c")), Script.reply(Script.text("done"))]

/** Tools that keep the settings of each turn. */
const watching = () => {
  const seen: Array<Pick<ConversationSettings, "approvalPolicy" | "approvalQuestions">> = []
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (_, { settings: { approvalPolicy, approvalQuestions } }) =>
      Effect.sync(() => {
        seen.push({ approvalPolicy, ...(approvalQuestions && { approvalQuestions }) })
        return "seen"
      }),
  })
  return { seen, tools, script: [...call, ...call] }
}

const none = { sandbox: false, permissions: false, tool_servers: false }

describe("the approval policy `granular`", () => {
  it.effect.each([
    ["sandbox_approval", { sandbox: true }],
    ["request_permissions", { permissions: true }],
    ["mcp_elicitations", { tool_servers: true }],
  ] as const)("`%s` allows its questions, and no others", ([member, on]) => {
    const { seen, ...options } = watching()
    return withThreads(options, (app) =>
      Effect.gen(function* () {
        const approvalPolicy = policy({ [member]: true })
        const answer = resultOf(yield* app.ask("start", "thread/start", { approvalPolicy }))
        assert.deepStrictEqual(answer["approvalPolicy"], approvalPolicy)
        yield* turn(app, String(at(answer, "thread", "id")))
        yield* app.quiet
        assert.deepStrictEqual(seen, [
          { approvalPolicy: "on-request", approvalQuestions: { ...none, ...on } },
        ])
      }),
    )
  })

  it.effect.each(["rules", "skill_approval"])(
    "`%s` is accepted, and shown as off, because nothing here asks such a question",
    (member) =>
      withThreads({}, (app) =>
        Effect.gen(function* () {
          const approvalPolicy = policy({ [member]: true })
          const answer = resultOf(yield* app.ask("start", "thread/start", { approvalPolicy }))
          assert.deepStrictEqual(answer["approvalPolicy"], policy({}))
        }),
      ),
  )

  it.effect("a switch that may be absent is off then, and a missing one is an error", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const required = { sandbox_approval: true, rules: true, mcp_elicitations: true }
        const start = (id: string, granular: object) =>
          app.ask(id, "thread/start", { approvalPolicy: { granular } })
        assert.deepStrictEqual(
          resultOf(yield* start("whole", required))["approvalPolicy"],
          policy({ sandbox_approval: true, mcp_elicitations: true }),
        )
        const { mcp_elicitations: _, ...less } = required
        const { message } = errorOf(yield* start("less", less))
        assert.match(String(message), /mcp_elicitations/)
      }),
    ),
  )

  it.effect("changes with a turn, is notified, and ends with another policy", () => {
    const { seen, ...options } = watching()
    return withThreads(options, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const granular = policy({ sandbox_approval: true })
        yield* turn(app, threadId, "one", { approvalPolicy: granular })
        yield* app.quiet
        yield* turn(app, threadId, "two", { approvalPolicy: "on-request" }, "second")
        yield* app.quiet
        assert.deepStrictEqual(
          told(app, "thread/settings/updated").map((one) =>
            at(one, "threadSettings", "approvalPolicy"),
          ),
          [granular, "on-request"],
        )
        assert.deepStrictEqual(seen, [
          { approvalPolicy: "on-request", approvalQuestions: { ...none, sandbox: true } },
          { approvalPolicy: "on-request" },
        ])
      }),
    )
  })

  it.effect("comes from the configuration too, and a policy with a name replaces it whole", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const granular = policy({ sandbox_approval: true })
        const config = { approval_policy: granular }
        const shown = (id: string, more: object) =>
          Effect.map(app.ask(id, "thread/start", { config, ...more }), (answer) =>
            at(resultOf(answer), "approvalPolicy"),
          )
        assert.deepStrictEqual(yield* shown("one", {}), granular)
        const named = { approvalPolicy: "on-request" }
        assert.strictEqual(yield* shown("two", named), "on-request")
        const id = yield* started(app)
        yield* turn(app, id)
        yield* app.quiet
        const resumed = yield* app.ask("resume", "thread/resume", { threadId: id, config })
        assert.deepStrictEqual(at(resultOf(resumed), "approvalPolicy"), granular)
        const lacking = { approval_policy: { granular: { rules: true, mcp_elicitations: true } } }
        const { message } = errorOf(yield* app.ask("no", "thread/start", { config: lacking }))
        assert.include(message, "missing field `sandbox_approval`\nin `approval_policy.granular`")
      }),
    ),
  )

  it.effect("is kept in a fork and on resume, which may change it", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const granular = policy({ request_permissions: true })
        const threadId = yield* started(app, { approvalPolicy: granular })
        yield* turn(app, threadId)
        yield* app.quiet
        const shown = (id: string, method: string, more: object = {}) =>
          Effect.map(app.ask(id, method, { threadId, ...more }), (answer) =>
            at(resultOf(answer), "approvalPolicy"),
          )
        assert.deepStrictEqual(yield* shown("fork", "thread/fork"), granular)
        const other = policy({ mcp_elicitations: true })
        const forked = yield* shown("other", "thread/fork", { approvalPolicy: other })
        assert.deepStrictEqual(forked, other)
        assert.deepStrictEqual(yield* shown("resume", "thread/resume"), granular)
        const never = { approvalPolicy: "never" }
        assert.strictEqual(yield* shown("never", "thread/resume", never), "never")
      }),
    ),
  )
})
