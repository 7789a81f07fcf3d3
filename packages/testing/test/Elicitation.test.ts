import * as McpClient from "@colloquy/client/McpClient"
import type { ElicitParams } from "@colloquy/protocol/mcp/Elicitation"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as McpServer from "@colloquy/server/McpServer"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asking, exec, oneCall } from "../../server/test/support/Asking.ts"
import { withCore } from "../../server/test/support/Harness.ts"

const patch = {
  _tag: "Patch",
  callId: "c",
  changes: { "/workspace/hello.txt": { add: { content: "hello\n" } } },
} as const

describe("Elicitation, client and server", () => {
  it.effect.each(["2025-06-18", "2025-11-25", "2026-07-28", "auto"])(
    "L7 a person answers for a command and for a patch, each after its event: %s",
    (protocolVersion) => {
      const asked = asking([exec, patch])
      const seen: Array<string> = []
      const answer = (question: ElicitParams): ReviewDecision => {
        seen.push(question.message.split("\n")[0] ?? "")
        return question.codex_command === undefined ? "denied" : "approved"
      }
      return withCore(
        oneCall,
        () =>
          Effect.gen(function* () {
            const [there, here] = yield* memoryPair()
            yield* Effect.forkScoped(McpServer.serve(here))
            const client = yield* McpClient.connect(there, {
              clientInfo: { name: "test", version: "1" },
              protocolVersion,
              onEvent: ({ msg }) =>
                Effect.sync(() => {
                  if (msg.type.endsWith("_approval_request")) seen.push(msg.type)
                }),
              onElicitation: (question) => Effect.sync(() => answer(question)),
            })
            assert.strictEqual(
              client.server.protocolVersion,
              protocolVersion === "auto" ? "2026-07-28" : protocolVersion,
            )
            assert.strictEqual((yield* client.codex({ prompt: "ask" })).text, "done")
            assert.deepStrictEqual(seen, [
              "exec_approval_request",
              "Allow Codex to run `touch made.txt` in `/workspace`?",
              "apply_patch_approval_request",
              "Allow Codex to apply proposed code changes?",
            ])
            assert.deepStrictEqual(asked.verdicts, [
              { decision: "approved", reason: "answered" },
              { decision: "denied", reason: "answered" },
            ])
          }),
        asked.tools,
      )
    },
  )
})
