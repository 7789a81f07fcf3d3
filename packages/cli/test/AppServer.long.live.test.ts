import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as CliProcess from "./CliProcess.ts"
import { isRunning, mark } from "./support/Processes.ts"

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

const requester = (cli: CliProcess.CliProcess, member: { readonly jsonrpc?: string }) => {
  let last = 0
  /** Sends a request and waits for its result. */
  return (method: string, params?: object) =>
    Effect.gen(function* () {
      const id = `request ${++last}`
      cli.write({ ...member, id, method, ...(params === undefined ? {} : { params }) })
      const stdout = yield* cli.stdoutHas(`"id":"${id}","result":`)
      const answer = messagesOf(stdout).find((message) => message.id === id)
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
    it.live(
      `runs a conversation, with messages in the form of the client's: ${JSON.stringify(member)}`,
      () =>
        Effect.gen(function* () {
          const cli = yield* CliProcess.start(["app-server"])
          const ask = requester(cli, member)
          const { userAgent } = yield* ask("initialize", { clientInfo })
          assert.match(
            String(userAgent),
            /^colloquy\/0\.153\.4 \(.+; .+; colloquy \d+\.\d+\.\d+\) .* \(test; 1\)$/,
          )
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

  const talking = Effect.fnUntraced(function* (command: string, last: object) {
    const directory = yield* CliProcess.stateDirectory()
    const script = join(directory, "script.json")
    writeFileSync(script, JSON.stringify([[{ text: "first" }, last, { text: "last" }]]))
    const cli = yield* CliProcess.start([
      command,
      "-cshutdown_grace_ms=20000",
      `-coffline.script=${script}`,
    ])
    const ask = requester(cli, { jsonrpc: "2.0" })
    yield* ask("initialize", { clientInfo, protocolVersion: "2025-06-18", capabilities: {} })
    const { conversationId } = yield* ask("newConversation", {})
    yield* ask("addConversationListener", { conversationId })
    const params = { conversationId, items: words("hi") }
    cli.write({ jsonrpc: "2.0", id: "say", method: "sendUserMessage", params })
    return cli
  })

  for (const command of ["app-server", "mcp"]) {
    it.live(
      `L9 a client that pipes a message into ${command} and reads to the end gets the events of its turn`,
      () =>
        Effect.gen(function* () {
          const cli = yield* talking(command, { delay_ms: 1000 })
          cli.child.stdin.end()
          const { code, stdout } = yield* cli.outcome
          assert.strictEqual(code, 0)
          assert.strictEqual(messagesOf(stdout).at(-1)?.method, "codex/event/task_complete")
        }),
    )
  }

  it.live("L9 a signal ends the server at once, before the end of the input and after it", () =>
    Effect.gen(function* () {
      for (const ends of [false, true]) {
        const cli = yield* talking("app-server", { delay_ms: 600_000 })
        yield* cli.stdoutHas("codex/event/agent_message")
        if (ends) {
          cli.child.stdin.end()
          // The server must have received the first one before the second is sent, or both count as one.
          yield* Effect.sleep("100 millis")
        }
        const began = performance.now()
        cli.child.kill("SIGTERM")
        const { code, stdout } = yield* cli.outcome
        assert.strictEqual(code, 143)
        assert.isBelow(performance.now() - began, 10_000)
        assert.notInclude(stdout, "codex/event/task_complete")
      }
    }),
  )

  it.live(
    "a conversation outlives its server, and a client that resumes after its last number misses nothing",
    () =>
      Effect.gen(function* () {
        const home = yield* CliProcess.stateDirectory()
        const variables = { COLLOQUY_HOME: home }
        const first = yield* CliProcess.start(["app-server"], variables)
        const ask = requester(first, {})
        yield* ask("initialize", { clientInfo })
        const { conversationId, rolloutPath } = yield* ask("newConversation", {})
        yield* ask("addConversationListener", { conversationId, after: -1 })
        yield* ask("sendUserMessage", { conversationId, items: words("one") })
        const output = yield* first.stdoutHas("codex/event/task_complete")
        const lastSeq = seqOf(output, "codex/event/agent_message")
        const configured = messagesOf(output).find(
          ({ method }) => method === "codex/event/session_configured",
        )
        assert.strictEqual(
          (configured?.params?.["msg"] as { readonly rollout_path?: string } | undefined)
            ?.rollout_path,
          rolloutPath,
        )
        first.child.kill("SIGKILL")
        yield* first.outcome
        const second = yield* CliProcess.start(["app-server"], variables)
        const again = requester(second, {})
        yield* again("initialize", { clientInfo })
        const { items } = yield* again("listConversations", {})
        assert.deepStrictEqual(
          (items as ReadonlyArray<Record<string, unknown>>).map(({ path, preview }) => ({
            path,
            preview,
          })),
          [{ path: rolloutPath, preview: "one" }],
        )
        yield* again("addConversationListener", { conversationId, after: lastSeq })
        const stdout = yield* second.stdoutHas("conversationSynced")
        const types = messagesOf(stdout).flatMap(({ method }) => method ?? [])
        assert.include(types, "codex/event/task_complete")
        yield* again("archiveConversation", { conversationId, rolloutPath })
        const left = yield* again("listConversations", {})
        assert.deepStrictEqual(left["items"], [])
      }),
  )

  it.live(
    "L7 a turn that is resumed after a kill asks the client that loaded it and attaches later",
    () =>
      Effect.gen(function* () {
        const home = yield* CliProcess.stateDirectory(
          'model_provider = "offline"\non_restart = "continue"\n',
        )
        const variables = { COLLOQUY_HOME: home }
        const first = yield* CliProcess.start(["app-server"], variables)
        const ask = requester(first, {})
        yield* ask("initialize", { clientInfo })
        const { conversationId, rolloutPath } = yield* ask("newConversation", {
          approvalPolicy: "never",
          sandbox: "danger-full-access",
        })
        yield* ask("addConversationListener", { conversationId })
        const items = words("run: echo up; exec sleep 30")
        yield* ask("sendUserMessage", { conversationId, items })
        yield* first.stdoutHas("exec_command_output_delta")
        first.child.kill("SIGKILL")
        yield* first.outcome
        const second = yield* CliProcess.start(["app-server"], variables)
        const again = requester(second, {})
        yield* again("initialize", { clientInfo })
        yield* again("resumeConversation", { path: rolloutPath })
        // As long as a slow client takes until its next message. A question that was not sent would be decided by then.
        yield* Effect.sleep("300 millis")
        yield* again("addConversationListener", { conversationId })
        const asked = messagesOf(yield* second.stdoutHas('"method":"execCommandApproval"')).find(
          ({ method }) => method === "execCommandApproval",
        )
        assert.include(String(asked?.params?.["reason"]), "Run it again?")
        second.write({ id: asked?.id, result: { decision: "denied" } })
        const stdout = yield* second.stdoutHas("codex/event/task_complete")
        assert.notInclude(stdout, '"unattended"')
      }),
  )

  it.live("serves the methods about the machine and the configuration", () =>
    Effect.gen(function* () {
      const home = yield* CliProcess.stateDirectory(
        '# mine\nmodel_provider = "offline"\nmodel = "a" # kept\nsandbox_mode = "danger-full-access"\n',
      )
      const cli = yield* CliProcess.start(["app-server"], { COLLOQUY_HOME: home })
      const ask = requester(cli, {})
      yield* ask("initialize", { clientInfo })
      const ran = yield* ask("execOneOffCommand", {
        command: ["sh", "-c", "echo out; echo err >&2; exit 3"],
      })
      assert.deepStrictEqual(ran, { exitCode: 3, stdout: "out\n", stderr: "err\n" })
      yield* ask("setDefaultModel", { model: "b", reasoningEffort: "high" })
      assert.deepStrictEqual(yield* ask("getUserSavedConfig"), {
        config: {
          model: "b",
          modelReasoningEffort: "high",
          sandboxMode: "danger-full-access",
          profiles: {},
        },
      })
      const written = readFileSync(join(home, "config.toml"), "utf8")
      assert.include(written, "# mine\n")
      assert.include(written, 'model = "b" # kept\n')
      const project = yield* CliProcess.stateDirectory("")
      const { files } = yield* ask("fuzzyFileSearch", { query: "cnfgtoml", roots: [project, home] })
      // The result lists no file of the state directory.
      assert.deepStrictEqual(
        (files as ReadonlyArray<{ readonly root: string; readonly path: string }>).map(
          ({ path, root }) => [root, path],
        ),
        [[project, "config.toml"]],
      )
      assert.strictEqual((yield* ask("newConversation"))["model"], "b")
    }),
  )

  it.live(
    "L8 a command whose request is cancelled is stopped before the response reports that",
    () =>
      Effect.gen(function* () {
        const home = yield* CliProcess.stateDirectory('sandbox_mode = "danger-full-access"\n')
        const cli = yield* CliProcess.start(["app-server"], { COLLOQUY_HOME: home })
        yield* requester(cli, {})("initialize", { clientInfo })
        const pidPipe = join(home, "pid")
        execFileSync("mkfifo", [pidPipe])
        const command = ["sh", "-c", `echo $$ > ${pidPipe}; exec sleep ${mark()}`]
        cli.write({
          id: "slow",
          method: "execOneOffCommand",
          params: { command, timeoutMs: 60_000 },
        })
        const pid = Number(yield* Effect.promise(() => readFile(pidPipe, "utf8")))
        assert.isTrue(isRunning(pid))
        cli.write({ method: "$/cancelRequest", params: { id: "slow" } })
        yield* cli.stdoutHas('"id":"slow","error":{"code":-32800,"message":"request cancelled"}')
        assert.isFalse(isRunning(pid))
      }),
  )
})

describe("colloquy mcp", () => {
  it.live("serves the same requests together with MCP, on one connection", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp"])
      const ask = requester(cli, { jsonrpc: "2.0" })
      yield* ask("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo,
      })
      const { structuredContent } = yield* ask("tools/call", {
        name: "codex",
        arguments: { prompt: "one" },
      })
      const { threadId } = structuredContent as { readonly threadId: string }
      yield* ask("addConversationListener", { conversationId: threadId })
      yield* ask("sendUserMessage", { conversationId: threadId, items: words("two") })
      yield* cli.stdoutHas("codex/event/task_complete")
      cli.child.stdin.end()
      assert.strictEqual((yield* cli.outcome).code, 0)
    }),
  )
})
