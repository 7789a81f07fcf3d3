import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CliProcess from "./CliProcess.ts"

const call = {
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "codex", arguments: { prompt: "hi" } },
}

const methodOf = (line: string): ReadonlyArray<string> => {
  const { method } = JSON.parse(line) as { readonly method?: string }
  return method === undefined ? [] : [method]
}

describe("colloquy mcp, its events", () => {
  for (const [name, args, methods] of [
    ["--no-events", ["--no-events"], []],
    [
      "mcp_events=twice",
      ["-c", "mcp_events=twice"],
      ["session_configured", "task_started"].flatMap((type) => ["codex/event", type]),
    ],
  ] as const) {
    it.live(`with ${name} a call causes ${methods.length} notifications at its start`, () =>
      Effect.gen(function* () {
        const cli = yield* CliProcess.start(["mcp", ...args])
        cli.write(call)
        yield* cli.stdoutHas('"id":2,"result"')
        cli.child.stdin.end()
        const { code, stdout } = yield* cli.outcome
        const received = stdout.trim().split("\n").flatMap(methodOf)
        assert.deepStrictEqual([code, received.slice(0, 4)], [0, [...methods]])
      }),
    )
  }
})
