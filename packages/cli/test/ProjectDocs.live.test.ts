import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home, provided } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

describe("AGENTS.md", () => {
  it.live("is what the model reads first: the user's own file, then those of the project", () =>
    Effect.gen(function* () {
      const provider = yield* MockProvider.make([Script.reply(Script.text("understood"))])
      const directory = yield* provided(provider.baseUrl, "responses")
      Fs.writeFileSync(`${directory}/AGENTS.md`, "mine")
      const cwd = yield* home({ "AGENTS.md": "ours" })
      const server = yield* Server.ready({ home: directory })
      server.call(1, "codex", { prompt: "go", cwd })
      assert.strictEqual(Server.textOf(yield* server.answer(1)), "understood")
      const [request] = yield* provider.requests
      const { input = [] } = (request?.body ?? {}) as {
        readonly input?: ReadonlyArray<{
          readonly role: string
          readonly content: ReadonlyArray<{ readonly text: string }>
        }>
      }
      assert.deepStrictEqual(
        input.map(({ content, role }) => [role, content[0]?.text.split("\n")[0]]),
        [
          ["user", "<user_instructions>"],
          ["user", "<environment_context>"],
          ["user", "go"],
        ],
      )
      assert.strictEqual(
        input[0]?.content[0]?.text,
        "<user_instructions>\n\nmine\n\n--- project-doc ---\n\nours\n\n</user_instructions>",
      )
    }),
  )
})
