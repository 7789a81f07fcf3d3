/** Checks the clients that are libraries over HTTP: a turn with an approval where the client answers questions, else without. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { type Answer, describeClient, load } from "./Driver.ts"
import { loadModule } from "./Library.ts"
import { enter, type Place, place } from "./Place.ts"
import type { ClientName } from "./Pins.ts"
import { overHttp } from "./Reach.ts"

beforeAll(buildIfMissing)

/** Calls a tool, and resolves with everything that the client passes on. */
type Call = (args: object) => Promise<unknown>

interface Connected {
  readonly call: Call
  readonly close: () => Promise<void>
}

/** Questions are answered by `answer`; a client that answers none has no use for it. */
type Connect = (exported: unknown, answer: () => Answer) => Promise<Connected>

const toolIn = <A>(tools: Readonly<Record<string, A>>, name: string): A =>
  tools[name] ?? assert.fail(`there is no tool ${name}`)

interface AiTool {
  execute(args: object, options: { readonly toolCallId: string; readonly messages: [] }): unknown
}

interface AiSetup {
  readonly connect: () => Promise<{
    tools(): Promise<Readonly<Record<string, AiTool>>>
    onElicitationRequest(schema: unknown, handler: () => Promise<Answer>): void
    close(): Promise<void>
  }>
}

const aiSdk: Connect = async (exported, answer) => {
  const mcp = await (exported as AiSetup).connect()
  const { ElicitationRequestSchema } = load("@ai-sdk/mcp") as {
    readonly ElicitationRequestSchema: unknown
  }
  mcp.onElicitationRequest(ElicitationRequestSchema, () => Promise.resolve(answer()))
  const tool = toolIn(await mcp.tools(), "codex")
  return {
    call: async (args) => await tool.execute(args, { toolCallId: "1", messages: [] }),
    close: () => mcp.close(),
  }
}

interface LangchainTool {
  readonly name: string
  invoke(call: object): Promise<{ readonly content: unknown }>
}

interface LangchainSetup {
  readonly connect: (onProgress: () => void) => {
    getTools(): Promise<ReadonlyArray<LangchainTool>>
    close(): Promise<void>
  }
}

const langchain: Connect = async (exported) => {
  const mcp = (exported as LangchainSetup).connect(() => {})
  const tools = Object.fromEntries((await mcp.getTools()).map((tool) => [tool.name, tool]))
  const tool = toolIn(tools, "codex")
  return {
    call: (args) => tool.invoke({ type: "tool_call", id: "1", name: "codex", args }),
    close: () => mcp.close(),
  }
}

interface MastraSetup {
  readonly connect: (answer: () => Promise<Answer>) => {
    listTools(): Promise<
      Readonly<Record<string, { execute(args: object, context: object): Promise<unknown> }>>
    >
    disconnect(): Promise<void>
  }
}

const mastra: Connect = async (exported, answer) => {
  const mcp = (exported as MastraSetup).connect(() => Promise.resolve(answer()))
  const tool = toolIn(await mcp.listTools(), "codex_codex")
  return { call: (args) => tool.execute(args, {}), close: () => mcp.disconnect() }
}

const connected = (connect: Connect, client: ClientName, setup: string, answer: () => Answer) =>
  Effect.acquireRelease(
    Effect.promise(() => connect(loadModule(client, setup), answer)),
    ({ close }) => Effect.promise(close),
  )

const run = "run: touch made.txt && echo it was made"

const approved: Answer = { action: "accept", content: { decision: "approved" } }

const checks = (client: ClientName, connect: Connect, answers: boolean): void =>
  describeClient(client, () => {
    const reach = overHttp(client, "js")
    const variables = { MASTRA_TELEMETRY_DISABLED: "1" }

    const entered: Effect.Effect<
      Place,
      never,
      Effect.Services<ReturnType<typeof place>>
    > = Effect.tap(place(client, variables), enter)

    it.live(
      answers
        ? "over HTTP a command runs when its user accepts it, and does not when they decline"
        : "over HTTP a command that needs an approval is denied at once, and the turn continues",
      () =>
        Effect.gen(function* () {
          const here = yield* entered
          const made = join(here.workspace, "made.txt")
          let answer: Answer = { action: "decline" }
          const setup = yield* reach.setup(here)
          const { call } = yield* connected(connect, client, setup, () => answer)
          const ran = (args: object) =>
            Effect.map(
              Effect.promise(() => call({ prompt: run, cwd: here.workspace, ...args })),
              (result) => JSON.stringify(result),
            )
          assert.include(yield* ran({}), "rejected")
          assert.isFalse(existsSync(made))
          answer = approved
          assert.include(yield* ran(answers ? {} : { "approval-policy": "never" }), "it was made")
          assert.isTrue(existsSync(made))
        }),
    )

    it.live("over HTTP it declares to the server what the page says", () =>
      Effect.gen(function* () {
        const here = yield* entered
        const { declared, setup } = yield* reach.recorded(here)
        const { call } = yield* connected(connect, client, setup, () => approved)
        yield* Effect.promise(() => call({ prompt: "say hello" }))
        assert.deepStrictEqual(declared(), reach.expected)
      }),
    )
  })

checks("@ai-sdk/mcp", aiSdk, true)
checks("@langchain/mcp-adapters", langchain, false)
checks("@mastra/mcp", mastra, true)
