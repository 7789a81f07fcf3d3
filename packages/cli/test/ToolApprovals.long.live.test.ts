import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { home, provided } from "./support/Home.ts"
import { environment, type ToolResult } from "./support/Server.ts"

beforeAll(buildIfMissing)

const patch = [
  "*** Begin Patch",
  "*** Update File: hello.txt",
  "@@",
  "-hello",
  "+goodbye",
  "*** End Patch",
].join("\n")

const kinds = {
  command: {
    call: { name: "shell", arguments: { command: ["sh", "-c", "echo goodbye > hello.txt"] } },
    asked:
      /^Allow Codex to run `sh -c 'echo goodbye > hello.txt'` in `.*`\?\nIf approved, it runs without a sandbox, like every command of this conversation: /,
    refused: "exec command rejected",
  },
  patch: {
    call: { name: "apply_patch", arguments: { input: patch } },
    asked:
      /^Allow Codex to apply proposed code changes\?\nIf approved, these files are changed, without a sandbox like everything in this conversation, [^]*\n {2}update ".*\/hello\.txt"/,
    refused: "patch rejected",
  },
} as const

interface Played {
  readonly result: ToolResult
  /** Texts of the questions that the client received. */
  readonly asked: ReadonlyArray<string>
  /** Content of the file that an approved call changes. */
  readonly content: string
  readonly types: ReadonlyArray<string>
  /** The last output that the model received. */
  readonly lastRequest: string
}

/** Runs one tool call of the model with the official client, which declares elicitation only if `answer` is given. */
const play = ({ call }: (typeof kinds)[keyof typeof kinds], answer?: () => ElicitResult) =>
  Effect.gen(function* () {
    const provider = yield* MockProvider.make([
      Script.reply(Script.toolCall(call.name, call.arguments, "a")),
      Script.reply(Script.text("that was it")),
    ])
    const directory = yield* provided(provider.baseUrl, "responses")
    const cwd = yield* home({ "hello.txt": "hello\n" })
    const asked: Array<string> = []
    const messages: Array<Readonly<Record<string, unknown>>> = []
    const client = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const capabilities = answer === undefined ? {} : { elicitation: {} }
        const made = new Client({ name: "live-test", version: "1" }, { capabilities })
        made.fallbackNotificationHandler = ({ params }) => {
          messages.push((params as { msg: Readonly<Record<string, unknown>> }).msg)
          return Promise.resolve()
        }
        if (answer !== undefined) {
          made.setRequestHandler(ElicitRequestSchema, ({ params }) => {
            asked.push(params.message)
            return answer()
          })
        }
        const env = environment({ home: directory })
        await made.connect(
          new StdioClientTransport({
            command: process.execPath,
            args: [entry, "mcp"],
            env,
            stderr: "ignore",
          }),
        )
        return made
      }),
      (made) => Effect.promise(() => made.close()),
    )
    const prompt = { prompt: "go", "approval-policy": "untrusted", cwd }
    const result = yield* Effect.promise(() =>
      client.callTool({ name: "codex", arguments: { ...prompt, sandbox: "danger-full-access" } }),
    )
    const requests = yield* provider.requests
    const played: Played = {
      result: result as unknown as ToolResult,
      asked,
      content: Fs.readFileSync(`${cwd}/hello.txt`, "utf8"),
      types: messages.map(({ type }) => String(type)),
      lastRequest: JSON.stringify(requests.at(-1)),
    }
    return played
  })

const answers = {
  "a plain accept": [() => ({ action: "accept" }), true],
  "an accept with the decision": [
    () => ({ action: "accept", content: { decision: "approved" } }),
    true,
  ],
  "an accept that says denied": [
    () => ({ action: "accept", content: { decision: "denied" } }),
    false,
  ],
  "a decline": [() => ({ action: "decline" }), false],
  "a cancel": [() => ({ action: "cancel" }), false],
} as const satisfies Record<string, readonly [() => ElicitResult, boolean]>

describe("colloquy mcp, asked through the official SDK", () => {
  for (const [name, kind] of Object.entries(kinds)) {
    for (const [way, [answer, isAllowed]] of Object.entries(answers)) {
      it.live(`a ${name} is ${isAllowed ? "performed" : "left out"} after ${way}`, () =>
        Effect.gen(function* () {
          const { asked, content, result, types } = yield* play(kind, answer)
          assert.lengthOf(asked, 1)
          assert.match(asked[0] ?? "", kind.asked)
          assert.strictEqual(content, isAllowed ? "goodbye\n" : "hello\n")
          assert.strictEqual(result.content[0]?.text, "that was it")
          const begins = types.filter((type) => type.endsWith("_begin"))
          assert.lengthOf(begins, isAllowed ? 1 : 0)
        }),
      )
    }

    it.live(
      `a ${name} is denied at once when the client cannot be asked, and the result says so`,
      () =>
        Effect.gen(function* () {
          const { asked, content, result, lastRequest, types } = yield* play(kind)
          assert.deepStrictEqual(asked, [])
          assert.strictEqual(content, "hello\n")
          assert.strictEqual(result.content[0]?.text, "that was it")
          assert.isEmpty(types.filter((type) => type.endsWith("_begin")))
          assert.include(lastRequest, `${kind.refused}: no client is available to approve it`)
        }),
    )
  }
})
