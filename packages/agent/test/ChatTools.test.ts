/** What the tools of a chat and those of its machine make together. */
import type { ToolCall, ToolContext, ToolRuntime, TurnTools } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ChatTools } from "../src/internal/ChatTools.ts"

/** Every member that a machine can have. */
const opened: Required<TurnTools> = {
  specs: Effect.succeed([]),
  isReadOnly: () => true,
  replayOf: () => "never",
  questionOf: () => ({ server: "s", tool: "t", arguments: {} }),
  run: () => Effect.succeed({ output: "ran" }),
  runUserCommand: (command) => Effect.succeed({ output: `ran ${command}` }),
}

const machine: ToolRuntime["Service"] = {
  listMcpTools: () => Effect.succeed({}),
  open: () => Effect.succeed(opened),
}

const toolsWith = (ofMachine: ReadonlyArray<string> | undefined) =>
  Effect.gen(function* () {
    const tools = new ChatTools()
    yield* tools.register("c", { own: new Map(), ofMachine })
    return yield* tools.with(machine).open({ conversationId: "c" } as ToolContext)
  })

const call: ToolCall = {
  type: "function_call",
  name: "shell",
  arguments: "{}",
  call_id: "1",
}

describe("ChatTools", () => {
  it.effect("passes on every member of the machine's tools", () =>
    Effect.gen(function* () {
      const tools = yield* toolsWith(undefined)
      assert.sameMembers(Object.keys(tools), Object.keys(opened))
      assert.strictEqual(tools.replayOf?.(call), "never")
      assert.isDefined(tools.questionOf?.(call))
      const ran = yield* tools.runUserCommand?.("ls", "1") ?? Effect.succeed({ output: "" })
      assert.strictEqual(ran.output, "ran ls")
    }).pipe(Effect.scoped),
  )

  it.effect("a chat without the machine's shells runs no commands of its user", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* toolsWith(["apply_patch"])).runUserCommand)
      assert.isDefined((yield* toolsWith(["shell"])).runUserCommand)
    }).pipe(Effect.scoped),
  )
})
