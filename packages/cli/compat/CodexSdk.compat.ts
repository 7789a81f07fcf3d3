/** Checks OpenAI's TypeScript SDK for Codex, which runs `exec` for each turn, with this program in place of `codex`. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { directory, home, provided } from "../test/support/Home.ts"
import { executable } from "./Executable.ts"
import { describeClient, importPackage } from "./Driver.ts"

beforeAll(buildIfMissing)

type Input =
  | string
  | ReadonlyArray<{ readonly type: string; readonly text?: string; readonly path?: string }>

interface Turn {
  readonly items: ReadonlyArray<{ readonly type: string; readonly exit_code?: number }>
  readonly finalResponse: string
  readonly usage: { readonly input_tokens: number } | null
}

interface Thread {
  readonly id: string | null
  readonly run: (input: Input, options?: { readonly outputSchema?: unknown }) => Promise<Turn>
}

interface Sdk {
  readonly Codex: new (options: {
    readonly codexPathOverride: string
    readonly env: Readonly<Record<string, string>>
  }) => {
    readonly startThread: (options: object) => Thread
    readonly resumeThread: (id: string, options: object) => Thread
  }
}

const sdk = Effect.fnUntraced(function* (state: string) {
  const name = "@openai/codex-sdk"
  const { Codex } = yield* Effect.promise(() => importPackage(name, name) as Promise<Sdk>)
  const codex = new Codex({
    codexPathOverride: yield* executable(),
    env: { PATH: process.env["PATH"] ?? "", HOME: state, COLLOQUY_HOME: state },
  })
  return codex
})

describeClient("@openai/codex-sdk", () => {
  it.live("runs a turn with a command, and goes on with the thread in a later process", () =>
    Effect.gen(function* () {
      const codex = yield* sdk(yield* home())
      const options = { workingDirectory: yield* directory(), skipGitRepoCheck: true }
      const thread = codex.startThread(options)
      const first = yield* Effect.promise(() => thread.run("run: echo one; exit 3"))
      assert.deepStrictEqual(
        first.items.map(({ exit_code, type }) => [type, exit_code]),
        [
          ["command_execution", 3],
          ["agent_message", undefined],
        ],
      )
      assert.isAbove(first.usage?.input_tokens ?? 0, 0)
      const second = yield* Effect.promise(() => thread.run("say two"))
      const resumed = codex.resumeThread(thread.id ?? "", options)
      const third = yield* Effect.promise(() => resumed.run("say three"))
      assert.deepStrictEqual(
        [second, third].map((turn) => turn.finalResponse),
        ["two", "three"],
      )
      assert.isAbove(third.usage?.input_tokens ?? 0, second.usage?.input_tokens ?? 0)
    }),
  )

  it.live("asks for an answer of a schema, and sends images", () =>
    Effect.gen(function* () {
      const provider = yield* MockProvider.make(() => Script.reply(Script.text('{"colour":"red"}')))
      const codex = yield* sdk(yield* provided(provider.baseUrl, "responses"))
      const cwd = yield* directory()
      // The smallest PNG: one transparent pixel.
      const pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
      const image = join(cwd, "pixel.png")
      writeFileSync(image, Buffer.from(pixel, "base64"))
      const outputSchema = {
        type: "object",
        properties: { colour: { type: "string" } },
        required: ["colour"],
        additionalProperties: false,
      }
      const thread = codex.startThread({ workingDirectory: cwd, skipGitRepoCheck: true })
      const input = [
        { type: "text", text: "Which colour?" },
        { type: "local_image", path: image },
      ]
      const turn = yield* Effect.promise(() => thread.run(input, { outputSchema }))
      assert.deepStrictEqual(JSON.parse(turn.finalResponse), { colour: "red" })
      const [request] = yield* provider.requests
      const body = JSON.stringify(request?.body)
      assert.include(body, '"input_image"')
      assert.include(body, JSON.stringify(outputSchema))
    }),
  )

  it.live("fails a turn with the reason of the provider", () =>
    Effect.gen(function* () {
      const provider = yield* MockProvider.make(() => Script.status(401, { body: "bad key" }))
      const codex = yield* sdk(yield* provided(provider.baseUrl, "responses"))
      const thread = codex.startThread({
        workingDirectory: yield* directory(),
        skipGitRepoCheck: true,
      })
      const failure: unknown = yield* Effect.promise(() =>
        thread.run("hi").then(
          () => "completed",
          (error: unknown) => error,
        ),
      )
      assert.include(String(failure), "401")
    }),
  )
})
