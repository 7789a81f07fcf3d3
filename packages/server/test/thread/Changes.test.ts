/** The methods of app-server v2 that start, continue, change and end threads and turns. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { errorOf, resultOf, unknownId } from "../support/AppHarness.ts"
import { endless } from "../support/Endless.ts"
import type { Harness } from "../support/Harness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const answers = (...texts: ReadonlyArray<string>): Script.ProviderScript =>
  texts.map((text) => Script.reply(Script.text(text)))

let next = 0
const result = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`change ${next++}`, method, params), resultOf)

const fault = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`change ${next++}`, method, params), errorOf)

/** A thread with one finished turn. */
const talked = Effect.fnUntraced(function* (app: Harness, text = "hello") {
  const threadId = yield* started(app)
  const turnId = yield* turn(app, threadId, text)
  yield* app.quiet
  return { threadId, turnId }
})

/** One more client of the same server. */
const joined = Effect.fnUntraced(function* (app: Harness) {
  const other = yield* app.another
  const params = {
    clientInfo: { name: "other", version: "1" },
    capabilities: { experimentalApi: true },
  }
  yield* other.ask("hello", "initialize", params)
  return other
})

describe("thread/start", () => {
  it.effect("responds with the settings in effect, then notifies every connection", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const other = yield* joined(app)
        yield* other.ask("list", "thread/loaded/list", {})
        const params = {
          model: "other",
          cwd: "/elsewhere",
          approvalPolicy: "never",
          sandbox: "read-only",
        }
        const before = app.messages.length
        const thread = yield* result(app, "thread/start", params)
        yield* app.quiet
        assert.strictEqual(thread["model"], "other")
        assert.strictEqual(thread["cwd"], "/elsewhere")
        assert.strictEqual(thread["approvalPolicy"], "never")
        assert.deepStrictEqual(thread["sandbox"], { type: "readOnly", networkAccess: false })
        assert.deepStrictEqual(lines(app, before).slice(1), ["thread/started"])
        assert.lengthOf(told(other, "thread/started"), 1)
      }),
    ),
  )

  it.effect("an ephemeral thread has no path and is in no list", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app, { ephemeral: true })
        yield* turn(app, threadId)
        yield* app.quiet
        const { thread } = yield* result(app, "thread/read", { threadId })
        assert.deepStrictEqual([at(thread, "ephemeral"), at(thread, "path")], [true, null])
        assert.deepStrictEqual((yield* result(app, "thread/list", {}))["data"], [])
      }),
    ),
  )

  it.effect("what cannot be configured is an error, and the server goes on", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const provider = yield* fault(app, "thread/start", { modelProvider: "nope" })
        assert.match(String(provider.message), /^failed to load configuration: .*nope/)
        const policy = yield* fault(app, "thread/start", { approvalPolicy: "sometimes" })
        assert.match(String(policy.message), /approvalPolicy/)
        yield* started(app)
      }),
    ),
  )

  it.effect("an experimental member is refused without the capability", () =>
    withThreads({ capabilities: {} }, (app) =>
      Effect.gen(function* () {
        const refused = yield* fault(app, "thread/start", { experimentalRawEvents: true })
        assert.deepStrictEqual(refused, {
          code: -32600,
          message: "thread/start.experimentalRawEvents requires experimentalApi capability",
        })
      }),
    ),
  )
})

describe("thread/resume", () => {
  it.effect("gives the turns and continues with what follows", () =>
    withThreads({ script: answers("one", "two") }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnId } = yield* talked(app)
        const other = yield* joined(app)
        const resumed = yield* result(other, "thread/resume", { threadId })
        assert.strictEqual(at(resumed, "thread", "turns", 0, "id"), turnId)
        const page = { limit: 1, itemsView: "full" }
        const without = { threadId, excludeTurns: true, initialTurnsPage: page }
        const paged = yield* result(other, "thread/resume", without)
        assert.deepStrictEqual(at(paged, "thread", "turns"), [])
        assert.strictEqual(at(paged, "initialTurnsPage", "data", 0, "id"), turnId)
        yield* turn(app, threadId, "again", {}, "again")
        yield* other.quiet
        assert.lengthOf(told(other, "turn/completed"), 1)
      }),
    ),
  )

  it.effect("a history that the client has kept begins a new thread, which the model is sent", () =>
    withThreads({ script: answers("one") }, (app) =>
      Effect.gen(function* () {
        const history = [
          {
            type: "message",
            role: "user",
            content: [{ type: "input_text", text: "from history" }],
          },
          {
            type: "message",
            role: "assistant",
            content: [{ type: "output_text", text: "answered" }],
          },
        ]
        const resumed = yield* result(app, "thread/resume", { threadId: unknownId, history })
        const threadId = String(at(resumed, "thread", "id"))
        assert.notStrictEqual(threadId, unknownId)
        assert.strictEqual(at(resumed, "thread", "preview"), "from history")
        const items = at(resumed, "thread", "turns", 0, "items") as ReadonlyArray<unknown>
        assert.deepStrictEqual(
          items.map((one) => at(one, "type")),
          ["userMessage", "agentMessage"],
        )
        yield* turn(app, threadId, "go on")
        yield* app.quiet
        assert.lengthOf(told(app, "turn/completed"), 1)
      }),
    ),
  )

  it.effect("a history that is empty, or has what is no item, is an error", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const empty = yield* fault(app, "thread/resume", { threadId: unknownId, history: [] })
        assert.strictEqual(empty.message, "history must not be empty")
        const history = [{ type: "message", role: "user" }]
        const bad = yield* fault(app, "thread/resume", { threadId: unknownId, history })
        assert.match(String(bad.message), /^history: expected items/)
      }),
    ),
  )

  it.effect("an unknown and an archived thread are errors that say so", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const unknown = yield* fault(app, "thread/resume", { threadId: unknownId })
        assert.match(String(unknown.message), /no rollout found/)
        const { threadId } = yield* talked(app)
        yield* result(app, "thread/archive", { threadId })
        const archived = yield* fault(app, "thread/resume", { threadId })
        assert.match(String(archived.message), /is archived\. Run `codex unarchive/)
      }),
    ),
  )
})

describe("thread/fork", () => {
  it.effect("copies the turns up to one, and both go on by themselves", () =>
    withThreads({ script: answers("one", "two", "three") }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnId } = yield* talked(app)
        const second = yield* turn(app, threadId, "second", {}, "second")
        yield* app.quiet
        const whole = yield* result(app, "thread/fork", { threadId })
        assert.strictEqual(at(whole, "thread", "forkedFromId"), threadId)
        const ids = (at(whole, "thread", "turns") as ReadonlyArray<unknown>).map((one) =>
          at(one, "id"),
        )
        assert.deepStrictEqual(ids, [turnId, second])
        for (const rule of [{ lastTurnId: turnId }, { beforeTurnId: second }]) {
          const part = yield* result(app, "thread/fork", { threadId, ...rule })
          assert.lengthOf(at(part, "thread", "turns") as ReadonlyArray<unknown>, 1)
        }
        const forkId = String(at(whole, "thread", "id"))
        yield* turn(app, forkId, "third", {}, "third")
        yield* app.quiet
        const read = yield* result(app, "thread/read", { threadId, includeTurns: true })
        assert.lengthOf(at(read, "thread", "turns") as ReadonlyArray<unknown>, 2)
      }),
    ),
  )

  it.effect("a copy may be ephemeral, and one of an ephemeral thread may be stored", () =>
    withThreads({ script: answers("one", "two") }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app)
        const brief = yield* result(app, "thread/fork", { threadId, ephemeral: true })
        assert.deepStrictEqual(
          [at(brief, "thread", "ephemeral"), at(brief, "thread", "path")],
          [true, null],
        )
        assert.lengthOf(at(brief, "thread", "turns") as ReadonlyArray<unknown>, 1)
        const listed = (yield* result(app, "thread/list", {}))["data"]
        assert.lengthOf(listed as ReadonlyArray<unknown>, 1)
        const briefId = String(at(brief, "thread", "id"))
        const same = yield* result(app, "thread/fork", { threadId: briefId })
        assert.isTrue(at(same, "thread", "ephemeral"))
        const kept = yield* result(app, "thread/fork", { threadId: briefId, ephemeral: false })
        assert.isFalse(at(kept, "thread", "ephemeral"))
        const found = (yield* result(app, "thread/list", {}))["data"]
        assert.lengthOf(found as ReadonlyArray<unknown>, 2)
      }),
    ),
  )

  it.effect("a path that is no rollout file is an error, whatever the id", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const params = { threadId: "any", path: "/no/such.jsonl" }
        const refused = yield* fault(app, "thread/fork", params)
        assert.match(String(refused.message), /path/)
      }),
    ),
  )

  it.effect("a turn that does not exist, and two rules at once, are errors", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { threadId, turnId } = yield* talked(app)
        const none = yield* fault(app, "thread/fork", { threadId, lastTurnId: "none" })
        assert.strictEqual(none.message, "turn not found: none")
        const both = { threadId, lastTurnId: turnId, beforeTurnId: turnId }
        assert.strictEqual((yield* fault(app, "thread/fork", both)).code, -32600)
        const unknown = yield* fault(app, "thread/fork", { threadId: unknownId })
        assert.match(String(unknown.message), /no rollout found/)
      }),
    ),
  )
})

describe("thread/archive, thread/unarchive and thread/delete", () => {
  it.effect("each is notified to every connection, and changes where the thread is listed", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const other = yield* joined(app)
        yield* other.ask("list", "thread/loaded/list", {})
        const { threadId } = yield* talked(app)
        assert.deepStrictEqual(yield* result(app, "thread/archive", { threadId }), {})
        const again = yield* fault(app, "thread/archive", { threadId })
        assert.match(String(again.message), /no rollout found/)
        const { thread } = yield* result(app, "thread/unarchive", { threadId })
        assert.deepStrictEqual(at(thread, "status"), { type: "notLoaded" })
        const twice = yield* fault(app, "thread/unarchive", { threadId })
        assert.match(String(twice.message), /^no archived rollout found/)
        assert.deepStrictEqual(yield* result(app, "thread/delete", { threadId }), {})
        const gone = yield* fault(app, "thread/delete", { threadId })
        assert.match(String(gone.message), /^no rollout found/)
        yield* app.quiet
        for (const client of [app, other]) {
          for (const method of ["thread/archived", "thread/unarchived", "thread/deleted"]) {
            assert.deepStrictEqual(told(client, method), [{ threadId }])
          }
        }
      }),
    ),
  )

  it.effect("interrupt a running turn, whose items complete", () =>
    withThreads({ script: [Script.reply(Script.bareDeltas("half"), Script.hang)] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        yield* result(app, "thread/archive", { threadId })
        yield* app.quiet
        assert.strictEqual(at(told(app, "turn/completed"), 0, "turn", "status"), "interrupted")
      }),
    ),
  )
})

describe("thread/unsubscribe", () => {
  it.effect("ends the notifications of this connection alone, and the turn goes on", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app)
        const other = yield* joined(app)
        yield* result(other, "thread/resume", { threadId })
        const status = (id: string) => result(app, "thread/unsubscribe", { threadId: id })
        assert.deepStrictEqual(yield* status(threadId), { status: "unsubscribed" })
        assert.deepStrictEqual(yield* status(threadId), { status: "notSubscribed" })
        assert.deepStrictEqual(yield* status(unknownId), { status: "notLoaded" })
        yield* turn(other, threadId, "more", {}, "more")
        yield* app.quiet
        assert.lengthOf(told(app, "turn/completed"), 1)
        assert.lengthOf(told(other, "turn/completed"), 1)
      }),
    ),
  )
})

describe("thread/compact/start", () => {
  it.effect("is a turn with one item, read back the same", () =>
    withThreads({ script: answers("one", "the summary", "after") }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app)
        const before = app.messages.length
        assert.deepStrictEqual(yield* result(app, "thread/compact/start", { threadId }), {})
        yield* app.quiet
        assert.includeMembers(lines(app, before), [
          "turn/started",
          "item/started contextCompaction",
          "item/completed contextCompaction",
          "turn/completed",
        ])
        const read = yield* result(app, "thread/read", { threadId, includeTurns: true })
        assert.strictEqual(at(read, "thread", "turns", 1, "items", 0, "type"), "contextCompaction")
      }),
    ),
  )

  it.effect("waits for the running turn, and says nothing to it", () =>
    withThreads(
      {
        script: [
          Script.reply(Script.bareDeltas("half"), Script.hang),
          Script.reply(Script.text("the summary")),
        ],
      },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          const before = app.messages.length
          assert.deepStrictEqual(yield* result(app, "thread/compact/start", { threadId }), {})
          yield* app.quiet
          assert.deepStrictEqual(
            lines(app, before).filter((line) => /^(item|turn)/u.test(line)),
            [],
          )
          yield* result(app, "turn/interrupt", { threadId, turnId })
          yield* app.quiet
          assert.includeMembers(lines(app, before), [
            "turn/completed",
            "turn/started",
            "item/completed contextCompaction",
          ])
        }),
    ),
  )

  it.effect("every started item completes when the summary fails", () =>
    withThreads({ script: [Script.reply(Script.text("one")), Script.refuse] }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app)
        yield* result(app, "thread/compact/start", { threadId })
        yield* app.quiet
        const open = told(app, "item/started").length - told(app, "item/completed").length
        assert.strictEqual(open, 0)
        assert.strictEqual(told(app, "turn/completed").length, 2)
      }),
    ),
  )
})

describe("permissions and roots of the workspace", () => {
  const roots = ["/work", "/elsewhere/shared"]
  const writable = {
    type: "workspaceWrite",
    writableRoots: ["/elsewhere/shared"],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  }

  it.effect("a set of permissions is a sandbox, whose workspace has the roots", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const params = { permissions: ":workspace", runtimeWorkspaceRoots: roots }
        const thread = yield* result(app, "thread/start", params)
        assert.deepStrictEqual(thread["sandbox"], writable)
        yield* app.quiet
        const threadId = String(at(thread, "thread", "id"))
        const update = (more: object) =>
          result(app, "thread/settings/update", { threadId, ...more })
        yield* update({ permissions: ":read-only", runtimeWorkspaceRoots: roots })
        yield* update(params)
        yield* app.quiet
        assert.deepStrictEqual(
          told(app, "thread/settings/updated").map((one) =>
            at(one, "threadSettings", "sandboxPolicy"),
          ),
          [{ type: "readOnly", networkAccess: false }, writable],
        )
      }),
    ),
  )

  it.effect("an unknown set of permissions and a relative root are errors", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        for (const [method, name, value] of [
          ["thread/start", "sandbox", "read-only"],
          ["thread/resume", "sandbox", "read-only"],
          ["thread/fork", "sandbox", "read-only"],
          ["turn/start", "sandboxPolicy", { type: "readOnly" }],
          ["thread/settings/update", "sandboxPolicy", { type: "readOnly" }],
        ] as const) {
          const input = [{ type: "text", text: "hi" }]
          const both = { threadId, input, permissions: ":workspace", [name]: value }
          const { message } = yield* fault(app, method, both)
          assert.strictEqual(message, `\`permissions\` cannot be combined with \`${name}\``)
        }
        const unknown = yield* fault(app, "thread/start", { permissions: ":root" })
        assert.match(
          String(unknown.message),
          /^unknown permission profile `:root`, expected one of/,
        )
        const relative = { permissions: ":workspace", runtimeWorkspaceRoots: ["sub"] }
        const bad = yield* fault(app, "thread/start", relative)
        assert.include(String(bad.message), "params.runtimeWorkspaceRoots[0]")
        const sandboxPolicy = { type: "workspaceWrite", writableRoots: ["/work", "sub"] }
        const inPolicy = yield* fault(app, "thread/settings/update", { threadId, sandboxPolicy })
        assert.include(String(inPolicy.message), "params.sandboxPolicy.writableRoots[1]")
      }),
    ),
  )
})

describe("thread/settings/update", () => {
  it.effect("changes the next turns and notifies what changed, once", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app)
        const params = { threadId, model: "other", effort: "high", cwd: "/elsewhere" }
        assert.deepStrictEqual(yield* result(app, "thread/settings/update", params), {})
        yield* app.quiet
        const [changed, ...more] = told(app, "thread/settings/updated")
        assert.deepStrictEqual(more, [])
        const settings = at(changed, "threadSettings")
        assert.deepStrictEqual(
          [at(settings, "model"), at(settings, "effort"), at(settings, "cwd")],
          ["other", "high", "/elsewhere"],
        )
        yield* turn(app, threadId, "again", {}, "again")
        yield* app.quiet
        assert.include(JSON.stringify((yield* app.provider.requests).at(-1)), '"other"')
      }),
    ),
  )
})

describe("turn/start", () => {
  it.effect("refuses empty input, input that cannot be sent and an unknown thread", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const empty = yield* fault(app, "turn/start", { threadId, input: [] })
        assert.strictEqual(empty.message, "input must not be empty")
        const image = { type: "image", url: "https://example.com/a.png" }
        const remote = yield* fault(app, "turn/start", { threadId, input: [image] })
        assert.strictEqual(
          remote.message,
          "remote image URLs are not supported; use an inline data URL instead",
        )
        const input = [{ type: "text", text: "hi" }]
        const context = { threadId, input, additionalContext: { file: "a.ts" } }
        assert.strictEqual(
          (yield* fault(app, "turn/start", context)).message,
          "`additionalContext`: not supported, send it as a part of `input`",
        )
        const unknown = yield* fault(app, "turn/start", { threadId: unknownId, input })
        assert.strictEqual(unknown.message, `thread not found: ${unknownId}`)
      }),
    ),
  )

  it.effect("sends the output schema to the model, for this turn only", () =>
    withThreads({ script: answers("{}", "free") }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const outputSchema = { type: "object", properties: {}, additionalProperties: false }
        yield* turn(app, threadId, "as JSON", { outputSchema })
        yield* app.quiet
        yield* turn(app, threadId, "as text", {}, "second")
        yield* app.quiet
        const sent = (yield* app.provider.requests).map((one) => JSON.stringify(one))
        assert.deepStrictEqual(
          sent.map((text) => text.includes("json_schema")),
          [true, false],
        )
      }),
    ),
  )
})

describe("turn/steer", () => {
  it.effect("adds to the running turn; without one, and for another one, it is an error", () =>
    withThreads(
      { script: [Script.reply(Script.toolCall("x", {}, "c"))], tools: endless().tools },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const input = [{ type: "text", text: "more" }]
          const steer = (expectedTurnId: string) => ({ threadId, expectedTurnId, input })
          const none = yield* fault(app, "turn/steer", steer("x"))
          assert.strictEqual(none.message, "no active turn to steer")
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          assert.deepStrictEqual(yield* result(app, "turn/steer", steer(turnId)), { turnId })
          const other = yield* fault(app, "turn/steer", steer("x"))
          assert.include(String(other.message), "expected active turn id")
          const empty = yield* fault(app, "turn/steer", { ...steer(turnId), input: [] })
          assert.strictEqual(empty.message, "input must not be empty")
        }),
    ),
  )
})

describe("turn/interrupt", () => {
  it.effect("without a turn, and for another one, it is an error", () =>
    withThreads({ script: [Script.silence] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const none = yield* fault(app, "turn/interrupt", { threadId, turnId: "x" })
        assert.strictEqual(none.message, "no active turn to interrupt")
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const other = yield* fault(app, "turn/interrupt", { threadId, turnId: "x" })
        assert.strictEqual(other.message, `expected active turn id x but found ${turnId}`)
        assert.deepStrictEqual(yield* result(app, "turn/interrupt", { threadId, turnId }), {})
      }),
    ),
  )
})
