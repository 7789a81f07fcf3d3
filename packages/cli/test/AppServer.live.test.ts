import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CliProcess from "./CliProcess.ts"

interface Message {
  readonly id?: unknown
  readonly jsonrpc?: string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
}

const messagesOf = (stdout: string): ReadonlyArray<Message> =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Message)

const asker = (cli: CliProcess.CliProcess, member: { readonly jsonrpc?: string }) => {
  let last = 0
  /** Sends a request and waits for its result. */
  return (method: string, params?: object) =>
    Effect.gen(function* () {
      const id = `request ${++last}`
      cli.write({ ...member, id, method, ...(params === undefined ? {} : { params }) })
      const stdout = yield* cli.stdoutHas(`"id":"${id}"`)
      const whole = stdout.endsWith("\n") ? stdout : yield* cli.stdoutHas("\n")
      const answer = messagesOf(whole).find((message) => message.id === id)
      if (answer?.result === undefined) throw new Error(`no result: ${JSON.stringify(answer)}`)
      return answer.result
    })
}

const clientInfo = { name: "test", version: "1" }
const words = (text: string) => [{ type: "text", data: { text } }]
const seqOf = (stdout: string, name: string) =>
  Number(messagesOf(stdout).find(({ method }) => method === name)?.params?.["seq"])

describe("colloquy app-server", () => {
  for (const member of [{}, { jsonrpc: "2.0" }]) {
    it.live(`holds a conversation, its messages like the client's: ${JSON.stringify(member)}`, () =>
      Effect.gen(function* () {
        const cli = yield* CliProcess.start(["app-server"])
        const ask = asker(cli, member)
        const { userAgent } = yield* ask("initialize", { clientInfo })
        assert.match(String(userAgent), /^colloquy\/\d+\.\d+\.\d+ \(.+; .+\) .* \(test; 1\)$/)
        cli.write({ ...member, method: "initialized" })
        const { conversationId } = yield* ask("newConversation", {})
        yield* ask("addConversationListener", { conversationId })
        yield* ask("sendUserMessage", { conversationId, items: words("hello") })
        yield* cli.stdoutHas("codex/event/task_complete")
        yield* ask("interruptConversation", { conversationId })
        cli.child.stdin.end()
        const { code, stdout } = yield* cli.outcome
        assert.strictEqual(code, 0)
        assert.deepStrictEqual(
          messagesOf(stdout).filter(
            ({ jsonrpc }) => jsonrpc !== ("jsonrpc" in member ? "2.0" : undefined),
          ),
          [],
        )
      }),
    )
  }

  it.live("a conversation outlives its server; who comes back by its number misses nothing", () =>
    Effect.gen(function* () {
      const home = yield* CliProcess.stateDirectory()
      const variables = { COLLOQUY_HOME: home }
      const first = yield* CliProcess.start(["app-server"], variables)
      const ask = asker(first, {})
      yield* ask("initialize", { clientInfo })
      const { conversationId, rolloutPath } = yield* ask("newConversation", {})
      yield* ask("addConversationListener", { conversationId, after: -1 })
      yield* ask("sendUserMessage", { conversationId, items: words("one") })
      const told = yield* first.stdoutHas("codex/event/task_complete")
      const heard = seqOf(told, "codex/event/agent_message")
      first.child.kill("SIGKILL")
      yield* first.outcome
      const second = yield* CliProcess.start(["app-server"], variables)
      const again = asker(second, {})
      yield* again("initialize", { clientInfo })
      const { items } = yield* again("listConversations", {})
      assert.deepStrictEqual(
        (items as ReadonlyArray<Record<string, unknown>>).map(({ path, preview }) => ({
          path,
          preview,
        })),
        [{ path: rolloutPath, preview: "one" }],
      )
      yield* again("addConversationListener", { conversationId, after: heard })
      const stdout = yield* second.stdoutHas("conversationSynced")
      const types = messagesOf(stdout).flatMap(({ method }) => method ?? [])
      assert.include(types, "codex/event/task_complete")
      yield* again("archiveConversation", { conversationId, rolloutPath })
      const left = yield* again("listConversations", {})
      assert.deepStrictEqual(left["items"], [])
    }),
  )
})
