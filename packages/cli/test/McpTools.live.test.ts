import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CliProcess from "./CliProcess.ts"

const request = (id: number, method: string, params: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
})

interface Response {
  readonly id?: number
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

/** The responses of `colloquy mcp` with these settings, by request id. */
const responses = Effect.fnUntraced(function* (
  settings: ReadonlyArray<string>,
  requests: ReadonlyArray<ReturnType<typeof request>>,
) {
  const cli = yield* CliProcess.start(["mcp", ...settings.flatMap((one) => ["-c", one])])
  for (const one of requests) {
    cli.write(one)
    yield* cli.stdoutHas(`"id":${one.id},`)
  }
  cli.child.stdin.end()
  const { code, stdout } = yield* cli.outcome
  assert.strictEqual(code, 0)
  const lines = stdout.trim().split("\n")
  return new Map(lines.map((line) => JSON.parse(line) as Response).map((one) => [one.id, one]))
})

const list = request(1, "tools/list")
const calling = (id: number, name: string, args: object) =>
  request(id, "tools/call", { name, arguments: args })

const namesOf = (response: Response | undefined) =>
  ((response?.result?.["tools"] ?? []) as ReadonlyArray<{ readonly name: string }>).map(
    ({ name }) => name,
  )

describe("colloquy mcp, its tools", () => {
  it.live("by default lists those of the original, and the others can be called", () =>
    Effect.gen(function* () {
      const got = yield* responses([], [list, calling(2, "conversationsList", {})])
      assert.deepStrictEqual(namesOf(got.get(1)), ["codex", "codex-reply"])
      assert.isUndefined(got.get(2)?.error)
    }),
  )

  it.live("lists all of them with mcp_tools=all", () =>
    Effect.gen(function* () {
      const got = yield* responses(["mcp_tools=all"], [list])
      assert.lengthOf(namesOf(got.get(1)), 11)
    }),
  )

  it.live("serves only the tools that mcp_tools names, and the error names the setting", () =>
    Effect.gen(function* () {
      const settings = ['mcp_tools=["codex", "conversationWait"]']
      const got = yield* responses(settings, [list, calling(2, "codex-reply", { prompt: "x" })])
      assert.deepStrictEqual(namesOf(got.get(1)), ["codex", "conversationWait"])
      assert.strictEqual(got.get(2)?.error?.code, -32602)
      assert.include(got.get(2)?.error?.message, "`mcp_tools`")
    }),
  )

  it.live("L13 does not start with an unknown tool, and suggests the nearest", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp", "-c", 'mcp_tools=["codex-replay"]'])
      const { code, stderr } = yield* cli.outcome
      assert.strictEqual(code, 1)
      assert.include(stderr, "unknown variant `codex-replay`")
      assert.include(stderr, "did you mean `codex-reply`?")
      assert.include(stderr, "`mcp_tools.0`")
    }),
  )

  it.live("names the conversation only in structuredContent with mcp_thread_id=structured", () =>
    Effect.gen(function* () {
      const call = calling(1, "codex", { prompt: "say hi" })
      for (const [settings, texts] of [
        [[], 2],
        [["mcp_thread_id=structured"], 1],
      ] as const) {
        const { result } = (yield* responses(settings, [call])).get(1) ?? {}
        assert.lengthOf(result?.["content"] as ReadonlyArray<unknown>, texts)
        assert.hasAnyKeys(result?.["structuredContent"], ["threadId"])
      }
    }),
  )
})
