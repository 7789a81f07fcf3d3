/** Calls that continue as tasks, in both forms of tasks. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  behaviour,
  callOf,
  codes,
  listIn,
  sleeping,
  stateless,
  textOf,
  touching,
  type World,
} from "./Behaviour.ts"
import type { Members, Reply, Speaker } from "./Speaker.ts"

const extension = "io.modelcontextprotocol/tasks"
const both = { elicitation: { form: {} }, extensions: { [extension]: {} } }

/** Makes a call, requesting a task if the revision needs that, and resolves with the task in the response. */
const begin = (client: Speaker, args: Members) =>
  Effect.gen(function* () {
    const asked = client.stateless ? {} : { task: { ttl: 60_000 } }
    const { result } = yield* client.ask("tools/call", callOf("codex", args, asked))
    return (client.stateless ? result : result?.["task"]) as Members
  })

const get = (client: Speaker, taskId: unknown) =>
  Effect.map(client.ask("tasks/get", { taskId }), ({ result }) => result ?? {})

/** Polls at a client's interval until the task has this status. */
const until = (
  world: World,
  client: Speaker,
  taskId: unknown,
  status: string,
): Effect.Effect<Members> =>
  Effect.gen(function* () {
    const task = yield* get(client, taskId)
    if (task["status"] === status) return task
    assert.include(["working", "input_required"], task["status"])
    yield* world.pass("50 millis")
    return yield* until(world, client, taskId, status)
  })

/** Resolves with the response that the call would have had without a task. */
const resultOf = (client: Speaker, task: Members): Effect.Effect<Reply> =>
  client.stateless
    ? Effect.succeed({ result: task["result"] as Members })
    : client.ask("tasks/result", { taskId: task["taskId"] })

const since = { since: "2025-11-25" } as const

export const tasks = [
  behaviour(
    "makes a call a task that is found at once and keeps its result",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const made = yield* begin(client, { prompt: "say hello" })
        assert.isString(made["taskId"])
        assert.strictEqual((yield* get(client, made["taskId"]))["taskId"], made["taskId"])
        const done = yield* until(world, client, made["taskId"], "completed")
        assert.strictEqual(textOf(yield* resultOf(client, done)), "hello")
        assert.strictEqual(textOf(yield* resultOf(client, done)), "hello")
      }),
    since,
  ),

  behaviour(
    "stops the work of a task that is cancelled",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const { taskId } = yield* begin(client, sleeping(world))
        const { error } = yield* client.ask("tasks/cancel", { taskId })
        assert.isUndefined(error)
        assert.strictEqual((yield* until(world, client, taskId, "cancelled"))["taskId"], taskId)
      }),
    since,
  ),

  behaviour(
    "runs a command that a person accepts, when the client comes for the task's result",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const { taskId } = yield* begin(client, touching(world))
        yield* until(world, client, taskId, "input_required")
        const { asked, reply } = yield* client.converse("tasks/result", { taskId }, () => ({
          action: "accept",
        }))
        assert.lengthOf(asked, 1)
        assert.strictEqual(textOf(reply), "Offline model: the tool finished and said: made")
        assert.strictEqual((yield* get(client, taskId))["status"], "completed")
      }),
    { since: "2025-11-25", until: "2026-07-28" },
  ),

  behaviour(
    "runs a command that a person accepts, when the client updates the task",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const { taskId } = yield* begin(client, touching(world))
        const { inputRequests } = yield* until(world, client, taskId, "input_required")
        const keys = Object.keys(inputRequests as Members)
        assert.lengthOf(keys, 1)
        const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept" }]))
        const { error } = yield* client.ask("tasks/update", { taskId, inputResponses })
        assert.isUndefined(error)
        const done = yield* until(world, client, taskId, "completed")
        assert.strictEqual(
          textOf(yield* resultOf(client, done)),
          "Offline model: the tool finished and said: made",
        )
      }),
    stateless,
  ),

  behaviour(
    "L7 completes a task whose question is cancelled, without running the command",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const { taskId } = yield* begin(client, touching(world))
        const { inputRequests } = yield* until(world, client, taskId, "input_required")
        const cancel = { action: "cancel" }
        if (client.stateless) {
          const [key = ""] = Object.keys(inputRequests as Members)
          yield* client.ask("tasks/update", { taskId, inputResponses: { [key]: cancel } })
        } else yield* client.converse("tasks/result", { taskId }, () => cancel)
        const done = yield* until(world, client, taskId, "completed")
        assert.include(textOf(yield* resultOf(client, done)), "rejected")
      }),
    since,
  ),

  behaviour(
    "knows no task but those it made",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const { error } = yield* client.ask("tasks/get", { taskId: "made up" })
        assert.strictEqual(error?.code, codes.invalidParams)
      }),
    since,
  ),

  behaviour(
    "lists the tasks of a client",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(both)
        const { taskId } = yield* begin(client, { prompt: "say hello" })
        const { result } = yield* client.ask("tasks/list")
        assert.deepStrictEqual(
          listIn(result, "tasks").map((task) => task["taskId"]),
          [taskId],
        )
      }),
    { since: "2025-11-25", until: "2026-07-28" },
  ),

  behaviour(
    "makes no task for a client that cannot take it",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const reply = yield* client.ask("tools/call", callOf("codex", { prompt: "say hello" }))
        assert.strictEqual(textOf(reply), "hello")
        const { error } = yield* client.ask("tasks/get", { taskId: "any" })
        assert.strictEqual(error?.code, codes.missingCapability)
        assert.deepStrictEqual(error?.data, {
          requiredCapabilities: { extensions: { [extension]: {} } },
        })
      }),
    stateless,
  ),

  behaviour(
    "has no tasks in revisions before there were any",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak()
        const args = callOf("codex", { prompt: "say hello" }, { task: { ttl: 60_000 } })
        assert.strictEqual(textOf(yield* client.ask("tools/call", args)), "hello")
        const { error } = yield* client.ask("tasks/get", { taskId: "any" })
        assert.strictEqual(error?.code, codes.methodNotFound)
      }),
    { until: "2025-11-25" },
  ),
]
