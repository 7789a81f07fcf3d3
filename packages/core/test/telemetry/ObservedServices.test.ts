import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ToolRuntime } from "../../src/ToolRuntime.ts"
import { isEnd, takeUntil } from "../support.ts"
import { observing } from "./support.ts"
import { created, managed } from "./turns.ts"

const withUserCommand = ToolRuntime.simple({
  specs: () => [],
  run: () => Effect.succeed("unused"),
  runUserCommand: (command) => Effect.succeed({ output: `ran ${command}` }),
})

describe("observed tools", () => {
  it.effect("a command of the user runs", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* created
      yield* conversation.submit({ type: "run_user_shell_command", command: "ls" })
      const events = yield* takeUntil(listener, isEnd)
      assert.include(JSON.stringify(events), "ran ls")
      assert.notInclude(JSON.stringify(events), "has no shell")
    }).pipe(managed(observing(), [], { tools: withUserCommand })),
  )
})
