/** A command of the user in a thread, over a WebSocket of the built program. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { WebSocket } from "@effect/platform-node/NodeWS"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home as makeHome } from "./support/Home.ts"
import { startHttp } from "./support/HttpProcess.ts"

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** A member at a path of names. */
const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, name) =>
      typeof node === "object" && node !== null
        ? (node as Readonly<Record<string, unknown>>)[name]
        : undefined,
    value,
  )

/**
 * All messages of one connection until `turn/completed`. `next` gives what is sent after each message that it answers;
 * undefined sends nothing.
 */
const conversation = (url: string, token: string, next: (message: Message) => object | undefined) =>
  Effect.callback<ReadonlyArray<Message>, Error>((resume) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    const received: Array<Message> = []
    const send = (message: object | undefined) => {
      if (message !== undefined) socket.send(JSON.stringify(message))
    }
    socket.on("open", () => {
      const clientInfo = { name: "test", version: "1" }
      send({ id: 1, method: "initialize", params: { clientInfo } })
    })
    socket.on("message", (data) => {
      const message = JSON.parse((data as Buffer).toString("utf8")) as Message
      received.push(message)
      send(next(message))
      if (message.method === "turn/completed") resume(Effect.succeed(received))
    })
    socket.on("error", (error) => resume(Effect.die(error)))
    socket.on("close", (code) => resume(Effect.die(`closed with ${code}`)))
    return Effect.sync(() => socket.terminate())
  })

/** Begins a thread without the sandbox, and runs the command in it. */
const running = (command: string) => (message: Message) => {
  if (message.id === 1) {
    return { id: 2, method: "thread/start", params: { sandbox: "danger-full-access" } }
  }
  if (message.id !== 2) return undefined
  const threadId = at(message.result, "thread", "id")
  return { id: 3, method: "thread/shellCommand", params: { threadId, command } }
}

describe("thread/shellCommand over a WebSocket", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live("runs the line in the shell of the user, as a turn whose item has all its output", () =>
    Effect.gen(function* () {
      const home = yield* makeHome()
      const server = yield* startHttp(home, ["app-server", "--listen", "ws://127.0.0.1:0"])
      const url = yield* server.url
      const token = readFileSync(`${home}/http-token`, "utf8").trim()
      const line = "seq 1 20000 | tail -n 2; exit 3"
      const messages = yield* conversation(url, token, running(line))
      assert.deepStrictEqual(messages.find(({ id }) => id === 3)?.result, {})
      const of = (method: string) => messages.filter((one) => one.method === method)
      const item = of("item/completed")
        .map(({ params }) => at(params, "item"))
        .find((one) => at(one, "type") === "commandExecution")
      assert.deepInclude(item, {
        source: "userShell",
        status: "failed",
        exitCode: 3,
        aggregatedOutput: "19999\n20000\n",
      })
      const deltas = of("item/commandExecution/outputDelta").map(({ params }) =>
        at(params, "delta"),
      )
      assert.strictEqual(deltas.join(""), "19999\n20000\n")
      assert.deepStrictEqual(
        of("turn/completed").map(({ params }) => at(params, "turn", "status")),
        ["completed"],
      )
    }),
  )

  it.live("a refused line is an error, and the connection goes on", () =>
    Effect.gen(function* () {
      const home = yield* makeHome()
      const server = yield* startHttp(home, ["app-server", "--listen", "ws://127.0.0.1:0"])
      const url = yield* server.url
      const token = readFileSync(`${home}/http-token`, "utf8").trim()
      let threadId: unknown
      const messages = yield* conversation(url, token, (message) => {
        if (message.id === 3) {
          return { id: 4, method: "thread/shellCommand", params: { threadId, command: "true" } }
        }
        threadId ??= at(message.result, "thread", "id")
        return running(" ")(message)
      })
      assert.strictEqual(
        at(messages.find(({ id }) => id === 3)?.error, "message"),
        "command must not be empty",
      )
      assert.deepStrictEqual(messages.find(({ id }) => id === 4)?.result, {})
    }),
  )
})
