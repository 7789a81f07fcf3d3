/** Checks `vscode-jsonrpc`, the JSON-RPC library of editors, in a conversation with `colloquy app-server`. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { buildIfMissing, entry } from "../test/support/BuiltProgram.ts"
import { scripted } from "../test/support/Home.ts"
import { environment } from "../test/support/Server.ts"
import { describeClient, load, offline } from "./Driver.ts"
import { asking, until } from "./Playing.ts"

beforeAll(buildIfMissing)

type Params = Readonly<Record<string, unknown>>
type Hear = (message: unknown) => void

/** The part of the library that is used here. */
interface Connection {
  readonly sendRequest: (method: string, params?: object, token?: object) => Promise<Params>
  readonly sendNotification: (method: string, params?: object) => Promise<void>
  readonly onRequest: (method: string, handler: (params: Params) => unknown) => unknown
  readonly onNotification: (handler: (method: string, params: Params) => void) => unknown
  readonly onError: (listener: (error: unknown) => void) => unknown
  readonly listen: () => void
  readonly dispose: () => void
}

interface Library {
  readonly AbstractMessageReader: new () => object
  readonly AbstractMessageWriter: new () => object
  readonly createMessageConnection: (reader: object, writer: object) => Connection
  readonly CancellationTokenSource: new () => {
    readonly token: object
    readonly cancel: () => void
  }
}

/** One message per line; the library's own streams expect headers. */
const connect = (library: Library, child: ChildProcessWithoutNullStreams): Connection => {
  class Reader extends library.AbstractMessageReader {
    listen(hear: Hear) {
      const lines = createInterface({ input: child.stdout })
      lines.on("line", (line) => hear(JSON.parse(line)))
      return { dispose: () => lines.close() }
    }
  }
  class Writer extends library.AbstractMessageWriter {
    write(message: unknown) {
      child.stdin.write(`${JSON.stringify(message)}\n`)
      return Promise.resolve()
    }
    end() {
      child.stdin.end()
    }
  }
  return library.createMessageConnection(new Reader(), new Writer())
}

const server = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        process.execPath,
        [entry, "app-server", ...[offline, ...asking].flatMap((override) => ["-c", override])],
        { cwd: directory, env: environment({ home: directory }) },
      ),
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL")),
  )

const converse = async (connection: Connection) => {
  const asked: Array<Params> = []
  const notifications: Array<string> = []
  const faults: Array<unknown> = []
  connection.onError((error) => faults.push(error))
  connection.onNotification((method) => notifications.push(method))
  connection.onRequest("execCommandApproval", (params) => {
    asked.push(params)
    return { decision: "approved" }
  })
  connection.listen()
  await connection.sendRequest("initialize", { clientInfo: { name: "editor", version: "1" } })
  await connection.sendNotification("initialized")
  const { conversationId } = await connection.sendRequest("newConversation", {})
  await connection.sendRequest("addConversationListener", { conversationId })
  const items = [{ type: "text", data: { text: "go" } }]
  await connection.sendRequest("sendUserMessage", { conversationId, items })
  await until(() => notifications.includes("codex/event/task_complete"))
  const refused: unknown = await connection
    .sendRequest("sendUserMessage", { conversationId: "x", items })
    .catch((error: unknown) => error)
  return { asked, notifications, faults, conversationId, refused }
}

describeClient("vscode-jsonrpc", () => {
  it.live("holds a conversation, answers a question and reads every message", () =>
    Effect.gen(function* () {
      const directory = yield* scripted([
        [{ tool_call: { name: "shell", arguments: { command: ["echo", "made"] } } }],
        [{ tool_call: { name: "shell", arguments: { command: ["touch", "made.txt"] } } }],
        [{ text: "done" }],
      ])
      const child = yield* server(directory)
      const library = load("vscode-jsonrpc/node") as Library
      const connection = connect(library, child)
      const { asked, conversationId, faults, refused, notifications } = yield* Effect.promise(() =>
        converse(connection),
      )
      assert.deepStrictEqual(faults, [])
      assert.deepStrictEqual(
        asked.map((params) => [params["conversationId"], params["command"]]),
        [[conversationId, ["touch", "made.txt"]]],
      )
      assert.includeMembers(notifications, [
        "codex/event/task_started",
        "codex/event/exec_command_end",
        "codex/event/agent_message",
      ])
      assert.strictEqual((refused as { readonly code?: unknown }).code, -32600)
      connection.dispose()
    }),
  )

  it.live("takes a request back, and is answered", () =>
    Effect.gen(function* () {
      const child = yield* server(yield* scripted([]))
      const library = load("vscode-jsonrpc/node") as Library
      const connection = connect(library, child)
      const source = new library.CancellationTokenSource()
      const error = yield* Effect.promise(async () => {
        connection.listen()
        await connection.sendRequest("initialize", { clientInfo: { name: "editor", version: "1" } })
        const running = connection.sendRequest(
          "execOneOffCommand",
          { command: ["sleep", "60"], timeoutMs: 60_000 },
          source.token,
        )
        await connection.sendRequest("getUserAgent")
        source.cancel()
        return running.catch((failure: unknown) => failure)
      })
      assert.deepInclude(error, { code: -32800, message: "request cancelled" })
      connection.dispose()
    }),
  )
})
