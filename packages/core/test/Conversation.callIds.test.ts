import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { CallIds } from "../src/turn/CallIds.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import type { ModelEvent } from "../src/ModelClient.ts"
import type { ToolCall, ToolContext, ToolRuntime } from "../src/ToolRuntime.ts"
import { exec } from "./approvals.ts"
import { observed } from "./stores.ts"
import {
  answer,
  callItem,
  completed,
  done,
  durableOf,
  isEnd,
  isType,
  managerLayer,
  outputItem,
  type Response,
  says,
  scripted,
  type Script,
  settings,
  settle,
  takeUntil,
} from "./support.ts"

const nameOf = (call: ToolCall) => (call.type === "local_shell_call" ? "local_shell" : call.name)

/** Emits the begin and end events of a command, one second apart. */
const command = ({ emit }: ToolContext, call_id: string) =>
  Effect.gen(function* () {
    yield* emit({ type: "exec_command_begin", call_id, command: ["ls"], cwd: "/work" })
    yield* Effect.sleep("1 second")
    yield* emit({
      type: "exec_command_end",
      call_id,
      stdout: "",
      stderr: "",
      aggregated_output: "",
      exit_code: 0,
      duration: { secs: 1, nanos: 0 },
      formatted_output: "",
    })
  })

/** Calls of `read` may run in parallel, `write` runs alone, and `ask` requests an approval before it runs. */
const runtime: ToolRuntime["Service"] = {
  open: (context) =>
    Effect.succeed({
      specs: Effect.succeed([]),
      isReadOnly: (call) => nameOf(call) === "read",
      run: (call) =>
        Effect.gen(function* () {
          const id = call.call_id ?? ""
          if (nameOf(call) === "ask") {
            const { decision } = yield* context.approve(exec(id))
            if (decision !== "approved") return { output: decision }
          }
          yield* command(context, id)
          return { output: "done" }
        }),
    }),
  listMcpTools: () => Effect.succeed({}),
}

const processOver = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  script: Script,
) {
  yield* TestClock.adjust(0)
  const scope = yield* Scope.make()
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(script, { tools: runtime, store: store.layer })),
    scope,
  )
  return {
    manager: Context.get(services, ConversationManager),
    end: Scope.close(scope, Exit.void),
  }
})

type Conversation = Effect.Success<ReturnType<ConversationManager["Service"]["get"]>>

/** Runs one turn to its end and returns its durable events. */
const turn = Effect.fnUntraced(function* (conversation: Conversation) {
  const listener = yield* conversation.attach({ answers: true })
  yield* conversation.submit(says("go"))
  yield* settle
  yield* TestClock.adjust("1 minute")
  return durableOf(yield* takeUntil(listener, isEnd))
})

const beginOf = (type: string) => type.endsWith("_begin")
const endOf = (type: string) => type.endsWith("_end")

/** Asserts that every begin event is followed by exactly one end event, and that no two pairs share an id. */
const assertPaired = (events: ReadonlyArray<Event>): ReadonlyArray<string> => {
  const ids: Array<string> = []
  const open = new Set<string>()
  for (const { msg } of events) {
    if (!("call_id" in msg) || typeof msg.call_id !== "string") continue
    if (beginOf(msg.type)) {
      assert.notInclude(ids, msg.call_id, "an id of an earlier call")
      ids.push(msg.call_id)
      open.add(msg.call_id)
    } else if (endOf(msg.type)) {
      assert.isTrue(open.delete(msg.call_id), `an end without a beginning: ${msg.call_id}`)
    }
  }
  assert.deepStrictEqual([...open], [], "beginnings without an end")
  return ids
}

const calls = (name: string, ...ids: ReadonlyArray<string>): Response => [
  ...ids.map((id) => done(callItem(name, id))),
  completed,
]

const itemsOf = (events: ReadonlyArray<Event>): ReadonlyArray<ResponseItem> =>
  events.flatMap(({ msg }) =>
    msg.type === "raw_response_item" && msg.item.type !== "message" ? [msg.item] : [],
  )

describe("ids of calls", () => {
  it.effect.each<readonly [string, Response, ReadonlyArray<string>]>([
    ["parallel calls of one response", calls("read", "c", "c", "c"), ["c", "c-2", "c-3"]],
    ["calls one after the other", calls("write", "c", "c"), ["c", "c-2"]],
    ["calls without an id", calls("read", "", ""), ["call", "call-2"]],
    ["ids that look like ours", calls("read", "c", "c-2", "c"), ["c", "c-2", "c-3"]],
    ["ids that differ", calls("read", "a", "b"), ["a", "b"]],
  ])("each begin event has one end event with a unique id: %s", ([, response, ids]) =>
    Effect.gen(function* () {
      const script = scripted(response, answer("ok"))
      const { manager } = yield* processOver(observed(), script)
      const events = yield* turn(yield* manager.create(settings))
      assert.deepStrictEqual(assertPaired(events), ids)
    }),
  )

  it.effect("the model's history keeps the provider's ids, each output after its call", () =>
    Effect.gen(function* () {
      const script = scripted(calls("read", "c", "c"), calls("write", "c"), answer("ok"))
      const { manager } = yield* processOver(observed(), script)
      const events = yield* turn(yield* manager.create(settings))
      assert.deepStrictEqual(assertPaired(events), ["c", "c-2", "c-3"])
      const read = [callItem("read", "c"), outputItem("c", "done")]
      const expected = [...read, ...read, callItem("write", "c"), outputItem("c", "done")]
      assert.deepStrictEqual(script.requests[2]?.input.slice(-6), expected)
      const recorded = itemsOf(events).map((item) => "call_id" in item && item.call_id)
      assert.deepStrictEqual(
        recorded,
        Array.from({ length: 6 }, () => "c"),
      )
    }),
  )

  it.effect("an id of an earlier turn, and of an earlier process, is not used again", () =>
    Effect.gen(function* () {
      const store = observed()
      const responses = [calls("read", "c"), answer("ok"), calls("read", "c"), answer("ok")]
      const first = yield* processOver(store, scripted(...responses))
      const made = yield* first.manager.create(settings)
      const allEvents = [...(yield* turn(made)), ...(yield* turn(made))]
      yield* first.end
      const again = yield* processOver(store, scripted(calls("read", "c", "c"), answer("ok")))
      allEvents.push(...(yield* turn(yield* again.manager.get(made.id))))
      assert.deepStrictEqual(assertPaired(allEvents), ["c", "c-2", "c-3", "c-4"])
    }),
  )

  it.effect("L7 a question has the id of its call, and keeps it over a restart", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, scripted(calls("write", "c"), calls("ask", "c")))
      const made = yield* first.manager.create(settings)
      const listener = yield* made.attach({ answers: true })
      yield* made.submit(says("go"), { id: "t" })
      yield* settle
      yield* TestClock.adjust("2 seconds")
      const asked = durableOf(yield* takeUntil(listener, isType("exec_approval_request"))).at(-1)
      assert.strictEqual(asked?.msg.type === "exec_approval_request" && asked.msg.call_id, "c-2")
      // The process is killed; the next process loads only what was recorded.
      const left = observed()
      const { meta } = yield* store.inner.metadata({ id: made.id })
      yield* Effect.scoped(left.inner.create(meta, store.records(made.id)))
      const second = yield* processOver(left, scripted(answer("ok")))
      const conversation = yield* second.manager.get(made.id)
      const again = yield* conversation.attach({ from: 0, answers: true })
      yield* conversation.submit({ type: "exec_approval", id: "c-2", decision: "approved" })
      yield* settle
      yield* TestClock.adjust("2 seconds")
      const events = durableOf(yield* takeUntil(again, isType("task_complete")))
      assert.deepStrictEqual(assertPaired(events), ["c", "c-2"])
      const questions = events.filter(({ msg }) => msg.type === "exec_approval_request")
      assert.strictEqual(questions.length, 1)
    }),
  )
})

describe("searches of the provider", () => {
  const begin = (callId: string): ModelEvent => ({ _tag: "WebSearchBegin", callId })
  const end = (callId: string, query: string): ModelEvent => ({
    _tag: "WebSearchEnd",
    callId,
    query,
  })
  const searched = (events: ReadonlyArray<Event>) =>
    events.flatMap(({ msg }): ReadonlyArray<EventMsg> =>
      msg.type === "web_search_begin" || msg.type === "web_search_end" ? [msg] : [],
    )

  it.effect("each begin event has one end event with a unique id", () =>
    Effect.gen(function* () {
      const responses: ReadonlyArray<Response> = [
        [
          begin("w"),
          begin("w"),
          end("w", "a"),
          end("w", "b"),
          end("x", "c"),
          begin("w"),
          ...(calls("read", "w") as ReadonlyArray<ModelEvent>),
        ],
        answer("ok"),
      ]
      const { manager } = yield* processOver(observed(), scripted(...responses))
      const events = yield* turn(yield* manager.create(settings))
      assertPaired(events)
      assert.deepStrictEqual(searched(events), [
        { type: "web_search_begin", call_id: "w" },
        { type: "web_search_begin", call_id: "w-2" },
        { type: "web_search_end", call_id: "w", query: "a" },
        { type: "web_search_end", call_id: "w-2", query: "b" },
        { type: "web_search_begin", call_id: "x" },
        { type: "web_search_end", call_id: "x", query: "c" },
        { type: "web_search_begin", call_id: "w-3" },
        { type: "web_search_end", call_id: "w-3", query: "" },
      ])
    }),
  )
})

describe("CallIds", () => {
  it("accepts any number of equal ids and repeats none", () => {
    const ids = new CallIds([])
    const taken = Array.from({ length: 200 }, (_, i) =>
      ids.take(["a", "a-2", "", "call"][i % 4] ?? ""),
    )
    assert.strictEqual(new Set(taken).size, taken.length)
  })
})
