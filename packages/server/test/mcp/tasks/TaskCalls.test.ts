import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { RequestContext } from "../../../src/mcp/RequestContext.ts"
import { make as makeTaskCalls } from "../../../src/mcp/tasks/TaskCalls.ts"
import { Tasks } from "../../../src/tasks/Tasks.ts"
import { asking, exec, oneCall } from "../../support/Asking.ts"
import { withServer } from "../../support/Harness.ts"
import { madeBy, saying } from "../../support/Stateless.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  forms,
  member,
  refused,
  related,
  structured,
  taskIdIn,
} from "../../support/Tasking.ts"

const start = "1970-01-01T00:00:00.000Z"

const hi = { prompt: "hi" }

const oneTool = {
  name: "one",
  taskSupport: "optional",
  inputSchema: {},
  problem: undefined,
} as const

describe("a call as a task", () => {
  it.effect("2025-11-25: is answered with a task, before any other message of it (L2)", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const { result } = yield* callAsTask(server, asked, 2, "codex", hi, {
          task: { ttl: 60_000 },
        })
        const taskId = taskIdIn({ result: result ?? {} })
        assert.deepStrictEqual(result, {
          task: {
            taskId,
            status: "working",
            createdAt: start,
            lastUpdatedAt: start,
            ttl: 60_000,
            pollInterval: 1000,
          },
        })
        yield* server.quiet
        const answer = server.messages.findIndex(({ id }) => id === 2)
        const others = server.messages.slice(1)
        assert.strictEqual(answer, 1)
        assert.deepStrictEqual(
          [...new Set(others.map(({ method }) => method))],
          [undefined, "codex/event", "notifications/tasks/status"],
        )
      }),
    ),
  )

  it.effect(
    "2025-11-25: all its notifications name its task, and changes of its status are sent",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          yield* asked.hello(server)
          const params = { name: "codex", arguments: hi, task: {}, _meta: { progressToken: "p" } }
          const taskId = taskIdIn(yield* server.ask(2, "tools/call", params))
          yield* server.quiet
          const of = (name: string) => server.messages.filter(({ method }) => method === name)
          const metas = [...of("codex/event"), ...of("notifications/progress")].map(
            ({ params: sentParams }) => sentParams?.["_meta"] as Record<string, unknown>,
          )
          assert.isAbove(of("codex/event").length, 3)
          assert.isAbove(of("notifications/progress").length, 0)
          for (const meta of metas) {
            assert.deepInclude(meta, related(taskId))
          }
          assert.deepStrictEqual(
            of("notifications/tasks/status").map(({ params: sentParams }) => sentParams),
            [
              {
                taskId,
                status: "completed",
                createdAt: start,
                lastUpdatedAt: start,
                ttl: 3_600_000,
                pollInterval: 1000,
              },
            ],
          )
        }),
      ),
  )

  it.effect(
    "2026-07-28: the server creates one for a client that declares tasks, and sends nothing else",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const { result } = yield* callAsTask(server, decided, 2, "codex", hi)
          const { taskId, ...rest } = result ?? {}
          assert.match(String(taskId), /^[\w-]{22}$/)
          assert.deepStrictEqual(rest, {
            resultType: "task",
            status: "working",
            createdAt: start,
            lastUpdatedAt: start,
            ttlMs: 3_600_000,
            pollIntervalMs: 1000,
            _meta: madeBy,
          })
          yield* server.quiet
          assert.strictEqual(server.messages.length, 1)
        }),
      ),
  )

  it.effect(
    "2026-07-28: the server creates none for a client without tasks, nor of a tool without task support",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const plain = yield* server.ask(
            1,
            "tools/call",
            saying({ name: "codex", arguments: hi, task: { ttl: 1 } }),
          )
          assert.strictEqual(plain.result?.["resultType"], "complete")
          const short = yield* callAsTask(server, decided, 2, "conversationsList", {}, { task: {} })
          assert.strictEqual(short.result?.["resultType"], "complete")
        }),
      ),
  )

  it.effect.each(forms)(
    "$name: continues when its connection ends, and the next connection finds it",
    (form) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const tasks = yield* Scope.provide(Tasks.make(), scope)
        const script = [Script.reply(Script.delay("1 minute"), Script.text("late"))]
        yield* withServer({ script, tasks }, (server) =>
          Effect.gen(function* () {
            yield* form.hello(server)
            const taskId = taskIdIn(yield* callAsTask(server, form, 2, "codex", hi))
            yield* server.quiet
            yield* server.connection.close
            yield* TestClock.adjust("10 seconds")
            yield* Fiber.join(server.server)
            const next = yield* server.another
            yield* form.hello(next)
            const get = about(next, form)
            assert.strictEqual((yield* get("tasks/get", { taskId })).result?.["status"], "working")
            yield* TestClock.adjust("1 minute")
            yield* next.quiet
            assert.strictEqual(
              (yield* get("tasks/get", { taskId })).result?.["status"],
              "completed",
            )
          }),
        )
        yield* Scope.close(scope, Exit.void)
      }),
  )

  it.effect("L8 ends with its server, when that ends with the connection", () =>
    withServer({ script: [Script.reply(Script.hang)], serverPerConnection: true }, (server) =>
      Effect.gen(function* () {
        taskIdIn(yield* callAsTask(server, decided, 2, "codex", hi))
        yield* server.quiet
        yield* server.connection.close
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(server.server)
        const next = yield* server.another
        const conversations = structured(yield* next.call(3, "conversationsList"), "conversations")
        if (!Array.isArray(conversations)) throw new Error("no list of conversations")
        const { conversation_id } = conversations[0] as { readonly conversation_id: string }
        const state = yield* next.call(4, "conversationStatus", { conversation_id })
        assert.strictEqual(structured(state, "status"), "idle")
      }),
    ),
  )

  it.effect.each(forms)("$name: its status message describes the progress of the turn", (form) => {
    const { tools } = asking([exec])
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* form.hello(server)
        const taskId = taskIdIn(yield* callAsTask(server, form, 2, "codex", { prompt: "ask" }))
        yield* server.quiet
        const task = yield* about(server, form)("tasks/get", { taskId })
        assert.strictEqual(member(task, "statusMessage"), "asking whether to run `touch made.txt`")
      }),
    )
  })

  it.effect.each<readonly [answer: "taken" | "on its way" | "none", ends: ReadonlyArray<unknown>]>([
    ["taken", [{ _tag: "Result", result: { content: [] } }]],
    ["on its way", [{ _tag: "Cancelled" }]],
    ["none", []],
  ])(
    "L1 a call keeps the task that its client may have received, and runs if it was accepted: response %s",
    ([answer, ends]) =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        const callOrTask = yield* makeTaskCalls(tasks, 0)
        let ran = false
        let after: Effect.Effect<void> = Effect.void
        let over: (sent: boolean) => void = () => {}
        const context = {
          era: "stateless",
          peer: {},
          meta: {},
          principal: "me",
          client: { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
          afterAnswer: (effect: Effect.Effect<void>, whenOver: typeof over) => {
            after = effect
            over = whenOver
          },
        } as unknown as RequestContext
        const invoke = () =>
          Effect.sync(() => {
            ran = true
            return { content: [] }
          })
        yield* callOrTask({ tool: { ...oneTool, invoke }, args: {} }, context, undefined)
        yield* TestClock.adjust(0)
        const before = yield* tasks.list("me")
        assert.deepStrictEqual([ran, before.tasks.length], [false, 1])
        if (answer === "taken") yield* after
        over(answer !== "none")
        yield* TestClock.adjust(0)
        const { tasks: kept } = yield* tasks.list("me")
        assert.deepStrictEqual([ran, kept.map(({ end }) => end)], [answer === "taken", ends])
      }),
  )

  it.effect(
    "2026-07-28: work that a call has started ends in that call, even if its next request accepts tasks",
    () => {
      const { tools, verdicts } = asking([exec])
      return withServer({ script: oneCall, tools }, (server) =>
        Effect.gen(function* () {
          const call = { name: "codex", arguments: { prompt: "ask" } }
          const first = yield* server.ask(1, "tools/call", saying(call, { elicitation: {} }))
          const keys = Object.keys(Object(member(first, "inputRequests")))
          const answer = { action: "accept", content: { decision: "approved" } }
          const inputResponses = Object.fromEntries(keys.map((key) => [key, answer]))
          const requestState = member(first, "requestState")
          const again = decided.says({ ...call, inputResponses, requestState })
          const second = yield* server.ask(2, "tools/call", again)
          assert.deepStrictEqual(
            [keys.length, member(second, "resultType"), structured(second, "content")],
            [1, "complete", "done"],
          )
          assert.deepStrictEqual(
            verdicts.map(({ decision }) => decision),
            ["approved"],
          )
        }),
      )
    },
  )

  it.effect.each<readonly [task: unknown, message: string]>([
    ["yes", "task: expected an object"],
    [true, "task: expected an object"],
    [[], "task: expected an object"],
    [{ ttl: -1 }, "task.ttl: expected milliseconds, 0 or more"],
    [{ ttl: "60000" }, "task.ttl: expected milliseconds, 0 or more"],
    [{ ttl: {} }, "task.ttl: expected milliseconds, 0 or more"],
  ])("2025-11-25: refuses params.task of %j", ([task, message]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const answer = yield* callAsTask(server, asked, 2, "codex", hi, { task })
        assert.deepStrictEqual(refused(answer), [-32602, `Invalid params: params.${message}`])
      }),
    ),
  )

  it.effect("L13 2025-11-25: rejects an infinite ttl, and continues", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        yield* server.sendTexts(
          '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"codex","arguments":{"prompt":"x"},"task":{"ttl":1e999}}}',
        )
        assert.strictEqual((yield* server.response(2)).error?.code, -32602)
      }),
    ),
  )

  it.effect("2025-11-25: clamps a ttl to the bounds of the server", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const ttls: Array<unknown> = []
        for (const [index, ttl] of [0, 1, 5000.5, 1e15, null, undefined].entries()) {
          const answer = yield* callAsTask(server, asked, `c${index}`, "codex", hi, {
            task: { ttl },
          })
          ttls.push(Reflect.get(member(answer, "task") ?? {}, "ttl"))
        }
        assert.deepStrictEqual(ttls, [1000, 1000, 5001, 86_400_000, 86_400_000, 3_600_000])
      }),
    ),
  )

  it.effect("2025-11-25: a tool without task support cannot be called as a task", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const answer = yield* callAsTask(server, asked, 2, "conversationsList", {})
        assert.deepStrictEqual(refused(answer), [
          -32601,
          "tool conversationsList cannot be called as a task",
        ])
      }),
    ),
  )

  it.effect("2025-11-25: lists which tools support tasks, and declares the capability", () =>
    withServer({ ownTools: "all" }, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const { result } = yield* server.ask(2, "tools/list")
        const tools = result?.["tools"] as ReadonlyArray<{
          readonly name: string
          readonly execution?: unknown
        }>
        assert.deepStrictEqual(
          tools.flatMap(({ execution, name }) =>
            execution === undefined ? [] : [[name, execution]],
          ),
          ["codex", "codex-reply", "conversationWait"].map((name) => [
            name,
            { taskSupport: "optional" },
          ]),
        )
      }),
    ),
  )

  it.effect.each(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "%s: ignores params.task, whatever it is",
    (protocolVersion) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          yield* server.ask("i", "initialize", {
            protocolVersion,
            capabilities: {},
            clientInfo: { name: "test", version: "1" },
          })
          for (const task of [{}, { ttl: -1 }, 7]) {
            const { result } = yield* callAsTask(server, asked, JSON.stringify(task), "codex", hi, {
              task,
            })
            assert.isDefined(result?.["content"])
          }
        }),
      ),
  )

  it.effect(
    "L6 without room, 2025-11-25 is refused and 2026-07-28 is answered with the result",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make({ maxPerPrincipal: 1 })
        yield* withServer({ tasks }, (server) =>
          Effect.gen(function* () {
            yield* asked.hello(server)
            taskIdIn(yield* callAsTask(server, asked, 2, "codex", hi))
            assert.deepStrictEqual(refused(yield* callAsTask(server, asked, 3, "codex", hi)), [
              -32000,
              "no room for another task: maxPerPrincipal is 1; ended tasks are removed after their ttl",
            ])
            const { result } = yield* callAsTask(server, decided, 4, "codex", hi)
            assert.strictEqual(result?.["resultType"], "complete")
          }),
        )
      }),
  )
})
