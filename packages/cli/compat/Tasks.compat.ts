/** Checks turns as tasks, in the form of revision 2025-11-25, with the client that supports them: the official 1.x. */
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js"
import type * as StdioModule from "@modelcontextprotocol/sdk/client/stdio.js"
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js"
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { home } from "../test/support/Home.ts"
import { describeClient, load, server } from "./Driver.ts"

beforeAll(buildIfMissing)

const sdk = "@modelcontextprotocol/sdk"

const overrides = ['approval_policy="untrusted"', 'sandbox_mode="danger-full-access"']

/** A client that accepts every question. */
const connected = Effect.acquireRelease(
  Effect.flatMap(server(overrides), (command) =>
    Effect.promise(async () => {
      const { Client } = load(`${sdk}/client/index.js`) as typeof ClientModule
      const { StdioClientTransport } = load(`${sdk}/client/stdio.js`) as typeof StdioModule
      const types = load(`${sdk}/types.js`) as typeof TypesModule
      const capabilities = { elicitation: {} }
      const client = new Client({ name: "compat", version: "1" }, { capabilities })
      const related: Array<unknown> = []
      const statuses: Array<string> = []
      client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
        related.push(params._meta?.["io.modelcontextprotocol/related-task"]?.taskId)
        return { action: "accept" as const, content: { decision: "approved" } }
      })
      client.setNotificationHandler(types.TaskStatusNotificationSchema, ({ params }) => {
        statuses.push(params.status)
      })
      await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }))
      await client.listTools()
      return { client, related, statuses }
    }),
  ),
  ({ client }) => Effect.promise(() => client.close()),
)

type Connected = Effect.Success<typeof connected>

/** Everything that the client reports about a call, from its start to its end. */
const played = async ({ client }: Connected, args: Record<string, unknown>) => {
  const messages: Array<string> = []
  let taskId = ""
  let text: unknown
  for await (const message of client.experimental.tasks.callToolStream({
    name: "codex",
    arguments: args,
  })) {
    messages.push(message.type === "taskStatus" ? message.task.status : message.type)
    if (message.type === "taskCreated") taskId = message.task.taskId
    if (message.type === "result") text = Reflect.get(Object(message.result.content)[0], "text")
  }
  return { taskId, text, messages }
}

describeClient("@modelcontextprotocol/sdk", () => {
  it.live("a turn is a task, whose approval is asked for while its result is waited for", () =>
    Effect.gen(function* () {
      const cwd = yield* home()
      const driver = yield* connected
      const prompt = "run: touch done.txt && echo it is done"
      const { taskId, text, messages } = yield* Effect.promise(() =>
        played(driver, { prompt, cwd }),
      )
      assert.strictEqual(text, "Offline model: the tool finished and said: it is done")
      assert.isTrue(existsSync(join(cwd, "done.txt")))
      assert.deepStrictEqual(driver.related, [taskId])
      assert.strictEqual(messages[0], "taskCreated")
      assert.includeMembers(messages, ["input_required", "result"])
      assert.include(driver.statuses, "input_required")
      const { client } = driver
      const tasks = yield* Effect.promise(() => client.experimental.tasks.listTasks())
      assert.deepStrictEqual(
        tasks.tasks.map((task) => [task.taskId, task.status]),
        [[taskId, "completed"]],
      )
    }),
  )

  it.live("a task is cancelled, once", () =>
    Effect.gen(function* () {
      const cwd = yield* home()
      const driver = yield* connected
      const { client } = driver
      const { CreateTaskResultSchema } = load(`${sdk}/types.js`) as typeof TypesModule
      const { task } = yield* Effect.promise(() =>
        client.request(
          {
            method: "tools/call",
            params: { name: "codex", arguments: { prompt: "run: sleep 60", cwd } },
          },
          CreateTaskResultSchema,
          { task: { ttl: 60_000 } },
        ),
      )
      const { tasks } = client.experimental
      const cancelled = yield* Effect.promise(() => tasks.cancelTask(task.taskId))
      assert.strictEqual(cancelled.status, "cancelled")
      const again = yield* Effect.promise(() =>
        tasks.cancelTask(task.taskId).then(
          ({ status }) => status,
          (error: unknown) => (error instanceof Error ? error.message : "no error"),
        ),
      )
      assert.include(again, "-32602")
    }),
  )
})
