/** Checks LangChain: the tools of the server as tools of its agents. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { declaredOnPage } from "./ClientsPage.ts"
import { describeClient, type Progress } from "./Driver.ts"
import { almostAnHour, failureOf, loadSetup } from "./Library.ts"
import { enter, leftIn, type Place, place } from "./Place.ts"
import { recorder } from "./Recorder.ts"

beforeAll(buildIfMissing)

const client = "@langchain/mcp-adapters"

/** The result of a tool call; the model reads its content. */
interface ToolMessage {
  readonly content: unknown
}

interface Tool {
  readonly name: string
  invoke(call: {
    readonly type: "tool_call"
    readonly id: string
    readonly name: string
    readonly args: object
  }): Promise<ToolMessage>
}

interface McpClient {
  getTools(): Promise<ReadonlyArray<Tool>>
  close(): Promise<void>
}

interface Setup {
  readonly connect: (onProgress: (progress: Progress) => void) => McpClient
}

const connected = (here: Place, directory?: string) =>
  Effect.gen(function* () {
    yield* enter(here)
    const progress: Array<Progress> = []
    const { connect } = loadSetup(client, directory) as Setup
    const mcp = yield* Effect.acquireRelease(
      Effect.sync(() => connect((step) => progress.push(step))),
      (made) => Effect.promise(() => made.close()),
    )
    const tools = yield* Effect.promise(() => mcp.getTools())
    /** The text that the model of an agent reads. */
    const calling = async (name: string, args: object) => {
      const tool = tools.find((one) => one.name === name) ?? assert.fail(`there is no ${name}`)
      const { content } = await tool.invoke({ type: "tool_call", id: "1", name, args })
      return typeof content === "string" ? content : JSON.stringify(content)
    }
    const call = (name: string, args: object) => Effect.promise(() => calling(name, args))
    return { call, calling, progress, tools }
  })

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const run = "run: touch made.txt && echo it was made"

describeClient(client, () => {
  it.live("L8 a conversation of two turns, whose id the model reads, and no process is left", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { call, progress, tools } = yield* connected(here)
          assert.includeMembers(
            tools.map(({ name }) => name),
            ["codex", "codex-reply"],
          )
          const first = yield* call("codex", { prompt: "say one" })
          assert.include(first, "one")
          const threadId = uuid.exec(first)?.[0] ?? assert.fail(first)
          assert.include(yield* call("codex-reply", { threadId, prompt: "say two" }), "two")
          assert.isNotEmpty(progress)
        }),
      )
      assert.deepStrictEqual(yield* leftIn(here), [])
    }),
  )

  it.live("a command that needs an approval is denied at once, and the turn continues", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const made = join(here.workspace, "made.txt")
      const { call } = yield* connected(here)
      const args = { prompt: run, cwd: here.workspace }
      assert.include(yield* call("codex", args), "rejected")
      assert.isFalse(existsSync(made))
      assert.include(yield* call("codex", { ...args, "approval-policy": "never" }), "it was made")
      assert.isTrue(existsSync(made))
    }),
  )

  it.live("an error of a call is thrown with its text", () =>
    Effect.gen(function* () {
      const { calling } = yield* connected(yield* place(client))
      const threadId = "00000000-0000-7000-8000-000000000000"
      const error = yield* failureOf(() => calling("codex-reply", { threadId, prompt: "say one" }))
      assert.include(error, `not found for thread_id: ${threadId}`)
    }),
  )

  it.live("a call may last an hour", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const { calling } = yield* connected(here)
      const started = join(here.workspace, "started")
      const prompt = `run: touch ${started} && sleep 0.5 && echo it has ended`
      const args = { prompt, "approval-policy": "never" }
      const result = yield* Effect.promise(() =>
        almostAnHour(started, () => calling("codex", args)),
      )
      assert.include(result, "it has ended")
    }),
  )

  it.live("declares to the server what the page says", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const { declared, directory } = recorder(here)
      const { call } = yield* connected(here, directory)
      yield* call("codex", { prompt: "say hello" })
      assert.deepStrictEqual(declared(), declaredOnPage(client))
    }),
  )
})
