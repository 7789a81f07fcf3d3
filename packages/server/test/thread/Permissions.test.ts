/** The approval of further permissions. */
import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { created, listening, resultOf, say, withApp } from "../support/AppHarness.ts"
import { asked, at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const method = "item/permissions/requestApproval"
const wanted: FurtherPermissions = { network: true, write: ["/var/tmp"] }
const entry = (path: string) => ({ path: { type: "path", path }, access: "write" })
const fileSystem = { read: null, write: ["/var/tmp"], entries: [entry("/var/tmp")] }
const all = { network: { enabled: true }, fileSystem }

/** A tool that asks for permissions, with its verdict and what is held afterwards. */
const asking = () => {
  const given: Array<Verdict> = []
  const held: Array<FurtherPermissions> = []
  const request: ApprovalRequest = {
    _tag: "Permissions",
    callId: "c",
    permissions: wanted,
    cwd: "/workspace",
    justification: "need network",
  }
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (_, { approve, permissions }) =>
      Effect.gen(function* () {
        given.push(yield* approve(request))
        held.push(yield* permissions)
        return "asked"
      }),
  })
  return { given, held, tools }
}

const script = [Script.reply(Script.toolCall("ask", {}, "c")), Script.reply(Script.text("done"))]

describe("item/permissions/requestApproval", () => {
  it.effect("asks, with a flag of the status, and grants what is answered", () => {
    const { given, held, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { id, params } = asked(app, method)
        const startedAtMs = at(params, "startedAtMs")
        assert.isNumber(startedAtMs)
        assert.deepStrictEqual<unknown>(params, {
          threadId,
          turnId,
          itemId: "c",
          startedAtMs,
          environmentId: "local",
          cwd: "/workspace",
          reason: "need network",
          permissions: all,
        })
        const before = app.messages.length
        yield* app.send({ id, result: { permissions: all, scope: "session" } })
        yield* app.quiet
        assert.deepStrictEqual(given, [
          { decision: "approved_for_session", reason: "answered", permissions: wanted },
        ])
        assert.deepStrictEqual(held, [wanted])
        assert.deepStrictEqual(lines(app, before).slice(0, 2), [
          "serverRequest/resolved",
          "thread/status/changed active",
        ])
        assert.deepStrictEqual(
          told(app, "thread/status/changed").map((one) => at(one, "status", "activeFlags")),
          [[], ["waitingOnApproval"], [], undefined],
        )
      }),
    )
  })

  const network: FurtherPermissions = { network: true }
  const below: FurtherPermissions = { write: ["/var/tmp/a"] }
  it.effect.each<readonly [object, FurtherPermissions]>([
    [{ result: { permissions: { network: { enabled: true } }, scope: "turn" } }, network],
    [{ result: { permissions: { fileSystem: { write: ["/var/tmp/a", "/etc"] } } } }, below],
    [{ result: { permissions: { fileSystem: { entries: [entry("/var/tmp/a")] } } } }, below],
    [{ result: { permissions: { fileSystem: { ...fileSystem, entries: [] } } } }, {}],
    [{ result: { permissions: {}, scope: "turn" } }, {}],
    [{ result: {} }, {}],
    [{ result: { permissions: { fileSystem: { write: "/var/tmp" } } } }, {}],
    [{ error: { code: -1, message: "no" } }, {}],
  ])("L7 L15 grants no more than what was asked for and answered: %j", ([answer, granted]) => {
    const { held, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        yield* turn(app, yield* started(app))
        yield* app.quiet
        yield* app.send({ id: asked(app, method).id, ...answer })
        yield* app.quiet
        assert.deepStrictEqual(held, [granted])
        assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "completed")
      }),
    )
  })

  it.effect("an interrupt withdraws it, and a late answer grants nothing", () => {
    const { given, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { id } = asked(app, method)
        yield* app.ask("stop", "turn/interrupt", { threadId, turnId })
        yield* app.send({ id, result: { permissions: all, scope: "session" } })
        yield* app.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [{ threadId, requestId: id }])
        assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "interrupted")
        assert.isFalse(given.some(({ permissions }) => permissions !== undefined))
      }),
    )
  })

  it.effect("L7 is sent to who resumes; the first answer counts", () => {
    const { given, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const other = yield* app.another
        yield* other.ask("hello", "initialize", { clientInfo: { name: "b", version: "1" } })
        const resumed = resultOf(yield* other.ask("resume", "thread/resume", { threadId }))
        assert.deepStrictEqual(at(resumed, "thread", "status"), {
          type: "active",
          activeFlags: ["waitingOnApproval"],
        })
        yield* other.quiet
        yield* other.send({ id: asked(other, method).id, result: { permissions: {} } })
        yield* other.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [
          { threadId, requestId: asked(app, method).id },
        ])
        assert.deepStrictEqual(given, [{ decision: "denied", reason: "answered" }])
      }),
    )
  })

  it.effect("is a decision about all of them for clients of the first version", () => {
    const { held, tools } = asking()
    return withApp({ script, tools }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hello")
        yield* app.quiet
        const { id, params } = asked(app, "execCommandApproval")
        assert.deepStrictEqual(at(params, "command"), [
          "request_permissions",
          JSON.stringify(wanted),
        ])
        yield* app.send({ id, result: { decision: "approved" } })
        yield* app.quiet
        assert.deepStrictEqual(held, [wanted])
      }),
    )
  })
})
