/** Checks Mastra: the tools of the server as tools of its agents. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { declaredOnPage } from "./ClientsPage.ts"
import { type Answer, describeClient } from "./Driver.ts"
import { almostAnHour, failureOf, loadSetup } from "./Library.ts"
import { enter, leftIn, type Place, place } from "./Place.ts"
import { recorder } from "./Recorder.ts"

beforeAll(buildIfMissing)

const client = "@mastra/mcp"

/** The structured content of a result, which is all that Mastra passes on, or the fault in the arguments. */
interface Result {
  readonly threadId: string
  readonly content: string
  readonly error?: boolean
  readonly message?: string
}

interface Tool {
  execute(args: object, context: object): Promise<Result>
}

interface McpClient {
  listTools(): Promise<Readonly<Record<string, Tool>>>
  disconnect(): Promise<void>
}

type Answerer = (request: { readonly params: { readonly message: string } }) => Promise<Answer>

interface Setup {
  readonly connect: (inputRequests?: Answerer) => McpClient
}

const connected = (here: Place, answer?: Answerer, directory?: string) =>
  Effect.gen(function* () {
    yield* enter(here)
    const { connect } = loadSetup(client, directory) as Setup
    const mcp = yield* Effect.acquireRelease(
      Effect.sync(() => connect(answer)),
      (made) => Effect.promise(() => made.disconnect()),
    )
    const tools = yield* Effect.promise(() => mcp.listTools())
    const calling = async (name: string, args: object) => {
      const tool = tools[name] ?? assert.fail(`there is no tool ${name}`)
      return await tool.execute(args, {})
    }
    const call = (name: string, args: object) => Effect.promise(() => calling(name, args))
    return { call, calling, tools }
  })

const quiet = { MASTRA_TELEMETRY_DISABLED: "1" }
const run = "run: touch made.txt && echo it was made"

describeClient(client, () => {
  it.live("L8 a conversation of two turns, and no process is left behind", () =>
    Effect.gen(function* () {
      const here = yield* place(client, quiet)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { call, tools } = yield* connected(here)
          assert.includeMembers(Object.keys(tools), ["codex_codex", "codex_codex-reply"])
          const { content, threadId } = yield* call("codex_codex", { prompt: "say one" })
          assert.strictEqual(content, "one")
          const second = yield* call("codex_codex-reply", { threadId, prompt: "say two" })
          assert.strictEqual(second.content, "two")
          assert.strictEqual(second.threadId, threadId)
        }),
      )
      assert.deepStrictEqual(yield* leftIn(here), [])
    }),
  )

  it.live("a command runs when its user accepts it, and does not when they decline", () =>
    Effect.gen(function* () {
      const here = yield* place(client, quiet)
      const made = join(here.workspace, "made.txt")
      const asked: Array<string> = []
      const answers: Array<Answer> = [
        { action: "decline" },
        { action: "accept", content: { decision: "approved" } },
      ]
      const { call } = yield* connected(here, ({ params }) => {
        const answer = answers[asked.length] ?? assert.fail("there is a third question")
        asked.push(params.message)
        return Promise.resolve(answer)
      })
      const args = { prompt: run, cwd: here.workspace }
      assert.include((yield* call("codex_codex", args)).content, "rejected")
      assert.isFalse(existsSync(made))
      assert.include((yield* call("codex_codex", args)).content, "it was made")
      assert.include(asked[1], "touch made.txt")
      assert.isTrue(existsSync(made))
    }),
  )

  it.live(
    "without an answering function the command is denied at once, and the turn continues",
    () =>
      Effect.gen(function* () {
        const here = yield* place(client, quiet)
        const { call } = yield* connected(here)
        const { content } = yield* call("codex_codex", { prompt: run, cwd: here.workspace })
        assert.include(content, "rejected")
      }),
  )

  it.live("an error of a call is thrown with its text", () =>
    Effect.gen(function* () {
      const { calling } = yield* connected(yield* place(client, quiet))
      const threadId = "00000000-0000-7000-8000-000000000000"
      const error = yield* failureOf(() =>
        calling("codex_codex-reply", { threadId, prompt: "say one" }),
      )
      assert.include(error, `not found for thread_id: ${threadId}`)
    }),
  )

  it.live("a call that does not fit the schema is reported without asking the server", () =>
    Effect.gen(function* () {
      const { call } = yield* connected(yield* place(client, quiet))
      const result = yield* call("codex_codex", { promt: "say one" })
      assert.isTrue(result.error)
      assert.include(result.message, "must have required property 'prompt'")
    }),
  )

  it.live("a call may last an hour", () =>
    Effect.gen(function* () {
      const here = yield* place(client, quiet)
      const { calling } = yield* connected(here)
      const started = join(here.workspace, "started")
      const prompt = `run: touch ${started} && sleep 0.5 && echo it has ended`
      const args = { prompt, "approval-policy": "never" }
      const result = yield* Effect.promise(() =>
        almostAnHour(started, () => calling("codex_codex", args)),
      )
      assert.include(result.content, "it has ended")
    }),
  )

  it.live("declares to the server what the page says", () =>
    Effect.gen(function* () {
      const here = yield* place(client, quiet)
      const { declared, directory } = recorder(here)
      const answer: Answerer = () => Promise.resolve({ action: "decline" })
      const { call } = yield* connected(here, answer, directory)
      yield* call("codex_codex", { prompt: "say hello" })
      assert.deepStrictEqual(declared(), declaredOnPage(client))
    }),
  )
})
