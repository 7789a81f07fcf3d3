import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withDifferences } from "../../server/test/differences/Markdown.ts"
import { memoryPair } from "../src/MemoryConnection.ts"
import { Agents, ask } from "./support/EmbeddingExample.ts"
import { serve } from "./support/FeaturesExample.ts"
import { pages, programsOf, withPrograms } from "../../cli/test/support/ShownPrograms.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
const readme = read("../../../README.md")
const page = (name: string) => read(`../../docs/${name}.md`)

describe("README", () => {
  for (const path of pages()) {
    const text = readFileSync(path, "utf8")
    const blocks = text.split("```ts\n").length - 1
    if (blocks === 0) continue
    it(`${basename(path)}: every program is a file that is compiled, as \`npm run docs\` writes it`, () => {
      assert.lengthOf(programsOf(text), blocks)
      assert.strictEqual(
        withPrograms(text, (program) => read(`../../../${program}`)),
        text,
      )
    })
  }

  it.effect("the program of the packages runs a turn on the offline model", () =>
    Effect.gen(function* () {
      const messages = yield* ask("say hello from an embedded agent")
      assert.deepStrictEqual(messages.at(-1), {
        type: "task_complete",
        last_agent_message: "hello from an embedded agent",
      })
    }).pipe(Effect.provide(Agents)),
  )

  it.effect("the server of the page on the MCP server serves the features", () =>
    Effect.gen(function* () {
      const [client, server] = yield* memoryPair()
      yield* Effect.forkChild(serve(server), { startImmediately: true })
      const answers: Array<unknown> = []
      for (const [id, [method, params]] of [
        ["tools/call", { name: "greet", arguments: { name: "Ann" } }] as const,
        ["resources/read", { uri: "example://motd" }] as const,
        ["prompts/get", { name: "review", arguments: { file: "a.ts" } }] as const,
      ].entries()) {
        yield* client.send([JSON.stringify({ jsonrpc: "2.0", id, method, params })])
        while (answers.length <= id) {
          for (const frame of yield* client.receive) {
            const message: unknown = frame._tag === "Text" ? JSON.parse(frame.text) : undefined
            if (typeof message === "object" && message !== null && "result" in message) {
              answers.push(message.result)
            }
          }
        }
      }
      assert.deepStrictEqual(answers, [
        { content: [{ type: "text", text: "hello Ann" }] },
        { contents: [{ uri: "example://motd", text: "be kind" }] },
        { messages: [{ role: "user", content: { type: "text", text: "Review a.ts." } }] },
      ])
    }).pipe(Effect.scoped, Effect.provide(Agents)),
  )

  it("the page on compatibility has all differences from the original, as `npm run docs` writes them", () => {
    assert.strictEqual(page("compatibility"), withDifferences(page("compatibility")))
  })

  it("has at most 200 lines", () => {
    assert.isAtMost(readme.split("\n").length - 1, 200)
  })
})
