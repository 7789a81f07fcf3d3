/** Tests a call's last progress and its response over a real pipe, both raw and with the official client 1.x. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Effect from "effect/Effect"
import { tmpdir } from "node:os"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { scripted } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

const calls = 12

/**
 * A test process that the machine does not run for a moment reads both messages at once, however they were written. A
 * server that writes them together fails each time.
 */
const retried = { retry: 3 }

/** The scripted model response in every conversation. */
const answer = [[{ text: "the answer" }]]

/** The last progress of a turn. */
const lastProgress = "message: the answer"

describe("the last progress of a call", () => {
  it.live(
    "is never in the chunk of the response",
    () =>
      Effect.gen(function* () {
        const server = yield* Server.ready({ home: yield* scripted(answer) })
        const chunks: Array<string> = []
        server.child.stdout.prependListener("data", (chunk: string) => chunks.push(chunk))
        for (let n = 0; n < calls; n++) {
          const params = {
            name: "codex",
            arguments: { prompt: "hi" },
            _meta: { progressToken: `token-${n}` },
          }
          server.send({ id: `call-${n}`, method: "tools/call", params })
          yield* server.answer(`call-${n}`)
        }
        const lines = chunks.map((chunk) => chunk.split("\n"))
        for (let n = 0; n < calls; n++) {
          const isProgress = (line: string) => line.includes(`"progressToken":"token-${n}"`)
          const isResponse = (line: string) =>
            line.includes(`"id":"call-${n}"`) && line.includes(`"result":`)
          assert.isTrue(lines.some((chunk) => chunk.some(isProgress)))
          assert.isTrue(lines.some((chunk) => chunk.some(isResponse)))
          assert.isFalse(lines.some((chunk) => chunk.some(isProgress) && chunk.some(isResponse)))
        }
      }),
    retried,
  )

  it.live(
    "reaches the official client 1.x, which reports no error",
    () =>
      Effect.gen(function* () {
        const directory = yield* scripted(answer)
        const errors: Array<string> = []
        const client = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const one = new Client({ name: "live-test", version: "1" })
            Object.assign(one, { onerror: (error: Error) => errors.push(error.message) })
            await one.connect(
              new StdioClientTransport({
                command: process.execPath,
                args: [entry, "mcp"],
                env: Server.environment({ home: directory }),
                cwd: tmpdir(),
                stderr: "ignore",
              }),
            )
            return one
          }),
          (one) => Effect.promise(() => one.close()),
        )
        const last: Array<string | undefined> = []
        for (let n = 0; n < calls; n++) {
          let message: string | undefined
          const onprogress = (progress: { readonly message?: string | undefined }) => {
            message = progress.message
          }
          yield* Effect.promise(() =>
            client.callTool({ name: "codex", arguments: { prompt: "hi" } }, undefined, {
              onprogress,
            }),
          )
          last.push(message)
        }
        assert.deepStrictEqual(errors, [])
        assert.deepStrictEqual(
          last,
          Array.from({ length: calls }, () => lastProgress),
        )
      }),
    retried,
  )
})
