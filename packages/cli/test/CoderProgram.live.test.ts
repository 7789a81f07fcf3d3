/** Runs the program of packages/docs/embedding.md that has the tools of the machine. */
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import * as Effect from "effect/Effect"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { coderIn } from "../compat/programs/colloquy/coder.ts"

const project = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "colloquy-coder-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, maxRetries: 10, force: true })),
)

const adds = (path: string) =>
  Agent.calls("apply_patch", {
    input: `*** Begin Patch\n*** Add File: ${path}\n+text\n*** End Patch`,
  })

/** No sandbox allows this directory, as it would one among the temporary files. */
const elsewhere = "/colloquy-elsewhere"

const touch = Agent.calls("shell", {
  command: ["touch", "made"],
  with_escalated_permissions: true,
  justification: "I want to.",
})

describe("the program with the tools of the machine", () => {
  it.live(
    "changes files of its directory, no others, and shows a person what leaves the sandbox",
    () =>
      Effect.gen(function* () {
        const cwd = yield* project
        const asked: Array<string> = []
        const confirm = (question: string) =>
          Effect.sync(() => {
            asked.push(question)
            return false
          })
        const agent = coderIn(cwd, confirm)
        const script = [adds("new"), adds(elsewhere), touch, "done"]
        const chat = yield* Agent.test({ agent, script }).open()
        assert.strictEqual((yield* chat.ask("fix it").result).text, "done")
        assert.strictEqual(readFileSync(join(cwd, "new"), "utf8"), "text\n")
        assert.isFalse(existsSync(elsewhere))
        assert.isFalse(existsSync(join(cwd, "made")))
        assert.lengthOf(asked, 1)
        assert.include(asked[0], `\`touch made\` in \`${cwd}\``)
        assert.include(asked[0], "without the sandbox")
        assert.include(asked[0], "I want to.")
      }),
  )
})
