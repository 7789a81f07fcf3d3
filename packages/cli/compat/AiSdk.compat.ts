/** Checks the AI SDK: the tools of the server as tools of `generateText`, with a scripted model. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { declaredOnPage } from "./ClientsPage.ts"
import type { ToolResult } from "../test/support/Server.ts"
import { type Answer, describeClient, folderOf, load } from "./Driver.ts"
import { almostAnHour, loadSetup } from "./Library.ts"
import { enter, leftIn, type Place, place } from "./Place.ts"
import { textOf } from "./Playing.ts"
import { recorder } from "./Recorder.ts"

beforeAll(buildIfMissing)

const client = "@ai-sdk/mcp"

interface Tool {
  execute(args: object, options: { readonly toolCallId: string; readonly messages: [] }): unknown
}

interface Elicitation {
  readonly params: { readonly message: string }
}

interface McpClient {
  tools(): Promise<Readonly<Record<string, Tool>>>
  onElicitationRequest(schema: unknown, handler: (request: Elicitation) => Promise<Answer>): void
  close(): Promise<void>
}

interface Setup {
  readonly connect: () => Promise<McpClient>
}

/** One response of the model, as its interface defines it. */
interface Generated {
  readonly content: ReadonlyArray<object>
  readonly finishReason: { readonly unified: string }
  readonly usage: object
  readonly warnings: ReadonlyArray<never>
}

interface Ai {
  readonly isStepCount: (count: number) => unknown
  readonly generateText: (options: {
    readonly model: object
    readonly tools: Readonly<Record<string, Tool>>
    readonly prompt: string
    readonly stopWhen: unknown
  }) => Promise<{ readonly text: string }>
}

const connected = (here: Place, directory?: string) =>
  Effect.gen(function* () {
    yield* enter(here)
    const { connect } = loadSetup(client, directory) as Setup
    const mcp = yield* Effect.acquireRelease(
      Effect.promise(() => connect()),
      (made) => Effect.promise(() => made.close()),
    )
    const tools = yield* Effect.promise(() => mcp.tools())
    const calling = async (name: string, args: object) => {
      const tool = tools[name] ?? assert.fail(`there is no tool ${name}`)
      return (await tool.execute(args, { toolCallId: "1", messages: [] })) as ToolResult
    }
    const call = (name: string, args: object) => Effect.promise(() => calling(name, args))
    return { mcp, tools, call, calling }
  })

/** Answers every question in the same way. Returns the questions received so far. */
const answering = (mcp: McpClient, answer: Answer): ReadonlyArray<string> => {
  const { ElicitationRequestSchema } = load(client) as {
    readonly ElicitationRequestSchema: unknown
  }
  const asked: Array<string> = []
  mcp.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
    asked.push(params.message)
    return Promise.resolve(answer)
  })
  return asked
}

const run = "run: touch made.txt && echo it was made"

/** A model of this library that calls `codex` and then returns a fixed text. */
const scriptedModel = () => {
  const prompts: Array<unknown> = []
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const input = JSON.stringify({ prompt: "say from below" })
  const steps = [
    {
      content: { type: "tool-call", toolCallId: "1", toolName: "codex", input },
      end: "tool-calls",
    },
    { content: { type: "text", text: "the model has finished" }, end: "stop" },
  ]
  const doGenerate = ({ prompt }: { readonly prompt: unknown }): Promise<Generated> => {
    const { content, end } = steps[prompts.length] ?? assert.fail("there is no such step")
    prompts.push(prompt)
    return Promise.resolve({
      content: [content],
      finishReason: { unified: end },
      usage,
      warnings: [],
    })
  }
  const model = {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate,
  }
  return { model, prompts }
}

describeClient(client, () => {
  it.live("L8 a conversation of two turns, and no process is left behind", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { call, tools } = yield* connected(here)
          assert.includeMembers(Object.keys(tools), ["codex", "codex-reply"])
          const first = yield* call("codex", { prompt: "say one" })
          assert.strictEqual(textOf(first), "one")
          assert.strictEqual(first.structuredContent?.content, "one")
          const threadId = first.structuredContent?.threadId
          const second = yield* call("codex-reply", { threadId, prompt: "say two" })
          assert.strictEqual(textOf(second), "two")
          assert.strictEqual(second.structuredContent?.threadId, threadId)
        }),
      )
      assert.deepStrictEqual(yield* leftIn(here), [])
    }),
  )

  it.live("a command runs when its user accepts it, and does not when they decline", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const made = join(here.workspace, "made.txt")
      const { call, mcp } = yield* connected(here)
      const args = { prompt: run, cwd: here.workspace }
      answering(mcp, { action: "decline" })
      assert.include(textOf(yield* call("codex", args)), "rejected")
      assert.isFalse(existsSync(made))
      const asked = answering(mcp, { action: "accept", content: { decision: "approved" } })
      assert.include(textOf(yield* call("codex", args)), "it was made")
      assert.include(asked[0], "touch made.txt")
      assert.isTrue(existsSync(made))
    }),
  )

  it.live("the result of a call with a misspelt argument is an error that names it", () =>
    Effect.gen(function* () {
      const { call } = yield* connected(yield* place(client))
      const result = yield* call("codex", { promt: "say one" })
      assert.isTrue(result.isError)
      assert.include(textOf(result), "`promt`, did you mean `prompt`?")
    }),
  )

  const generated = Effect.gen(function* () {
    const { tools } = yield* connected(yield* place(client))
    const require_ = createRequire(join(folderOf(client), "package.json"))
    const ai = require_("ai") as Ai
    const { model, prompts } = scriptedModel()
    const stopWhen = ai.isStepCount(3)
    const { text } = yield* Effect.promise(() =>
      ai.generateText({ model, tools, prompt: "ask codex", stopWhen }),
    )
    return { text, read: JSON.stringify(prompts[1]) }
  })

  it.live("a model calls `codex` and reads the answer", () =>
    Effect.gen(function* () {
      const { read, text } = yield* generated
      assert.strictEqual(text, "the model has finished")
      assert.include(read, '"text":"from below"')
    }),
  )

  it.live("a model reads the id of the conversation", () =>
    Effect.gen(function* () {
      const { read } = yield* generated
      assert.match(read, /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/)
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
      assert.include(textOf(result), "it has ended")
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
