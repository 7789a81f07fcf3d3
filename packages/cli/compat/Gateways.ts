/**
 * Checks gateways, which serve a stdio program over HTTP: the official client 1.x connects to the program through
 * them.
 */
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js"
import type * as SseModule from "@modelcontextprotocol/sdk/client/sse.js"
import type * as HttpModule from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { type AddressInfo, createConnection, createServer } from "node:net"
import { join } from "node:path"
import type { ToolResult } from "../test/support/Server.ts"
import { declaredOnPage, setup } from "./ClientsPage.ts"
import { type Answer, load } from "./Driver.ts"
import type { ClientName } from "./Pins.ts"
import { leftIn, type Place, place } from "./Place.ts"
import { textOf, threadOf, until } from "./Playing.ts"
import { type Running, start } from "./Program.ts"
import { recorder } from "./Recorder.ts"

const sdk = "@modelcontextprotocol/sdk"

/** How the client reaches the gateway. */
type Transport = "streamable HTTP" | "SSE"

export interface Gateway {
  readonly client: ClientName
  /** The path of the gateway's endpoint. */
  readonly path: string
  readonly transport: Transport
  /** Derives the shell line that starts the gateway from the one on the page. */
  readonly line: (line: string) => string
}

const freePort: Effect.Effect<number> = Effect.promise(
  () =>
    new Promise((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(port))
      })
    }),
)

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" })
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })

const maxStartMs = 20_000

interface Served {
  readonly url: URL
  readonly running: Running
}

/** Starts the gateway and waits until its port accepts connections. */
const served = (
  { client, line, path }: Gateway,
  here: Place,
  directory?: string,
): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* freePort
    const words = line(setup(client, "sh", { DIR: directory, PORT: port }))
    const { env, workspace: cwd } = here
    // Without `exec` a signal would reach only the shell.
    const program = { command: "/bin/sh", args: ["-c", `exec ${words}`], cwd, env }
    const running = yield* start(program)
    yield* Effect.promise(async () => {
      const end = performance.now() + maxStartMs
      while (!(await accepts(port))) {
        if (performance.now() > end) throw new Error(`it does not listen: ${running.output()}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })
    return { url: new URL(`http://127.0.0.1:${port}${path}`), running }
  })

const transportTo = (url: URL, transport: Transport) => {
  if (transport === "SSE") {
    const { SSEClientTransport } = load(`${sdk}/client/sse.js`) as typeof SseModule
    return new SSEClientTransport(url)
  }
  const { StreamableHTTPClientTransport } = load(
    `${sdk}/client/streamableHttp.js`,
  ) as typeof HttpModule
  return new StreamableHTTPClientTransport(url)
}

/** Connects the client, which answers questions with `answers`, in this order. */
const connected = (url: URL, transport: Transport, answers: ReadonlyArray<Answer> = []) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { Client } = load(`${sdk}/client/index.js`) as typeof ClientModule
      const { ElicitRequestSchema } = load(`${sdk}/types.js`) as typeof TypesModule
      const client = new Client(
        { name: "compat", version: "1" },
        { capabilities: { elicitation: {} } },
      )
      const asked: Array<string> = []
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        const answer = answers[asked.length] ?? assert.fail(`it asks: ${params.message}`)
        asked.push(params.message)
        return { ...answer }
      })
      const steps: Array<string> = []
      await client.connect(transportTo(url, transport))
      const call = (name: string, args: Record<string, unknown>) =>
        Effect.promise(
          async () =>
            (await client.callTool({ name, arguments: args }, undefined, {
              onprogress: ({ message }) => steps.push(message ?? ""),
            })) as unknown as ToolResult,
        )
      return { client, call, asked, steps }
    }),
    ({ client }) => Effect.promise(() => client.close()),
  )

const run = "run: touch made.txt && echo it was made"
const maxStopMs = 15_000

const endChecks = (gateway: Gateway): void => {
  it.live.each(["SIGTERM", "SIGKILL"] as const)(
    "L8 no process is left behind when it ends by %s while a command runs",
    (signal) =>
      Effect.gen(function* () {
        const here = yield* place(gateway.client)
        const { running, url } = yield* served(gateway, here)
        const { call } = yield* connected(url, gateway.transport)
        const marker = join(here.workspace, "started")
        const prompt = `run: touch ${marker} && sleep 300`
        yield* Effect.forkChild(call("codex", { prompt, "approval-policy": "never" }))
        yield* Effect.promise(() => until(() => existsSync(marker)))
        yield* Effect.promise(() => running.stop(signal, maxStopMs))
        assert.deepStrictEqual(yield* leftIn(here), [])
      }),
  )
}

const conversationCheck = (gateway: Gateway): void => {
  const { client, transport } = gateway
  it.live("a conversation of two turns, with the structured content and the progress", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const { url } = yield* served(gateway, here)
      const { call, client: mcp, steps } = yield* connected(url, transport)
      const { tools } = yield* Effect.promise(() => mcp.listTools())
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["codex", "codex-reply"],
      )
      const first = yield* call("codex", { prompt: "say one" })
      assert.strictEqual(textOf(first), "one")
      const threadId = threadOf(first)
      const second = yield* call("codex-reply", { threadId, prompt: "say two" })
      assert.strictEqual(textOf(second), "two")
      assert.strictEqual(threadOf(second), threadId)
      assert.isNotEmpty(steps)
    }),
  )
}

const questionCheck = (gateway: Gateway): void => {
  it.live("a command runs when its user accepts it, and does not when they decline", () =>
    Effect.gen(function* () {
      const here = yield* place(gateway.client)
      const { url } = yield* served(gateway, here)
      const { asked, call } = yield* connected(url, gateway.transport, [
        { action: "decline" },
        { action: "accept", content: { decision: "approved" } },
      ])
      const made = join(here.workspace, "made.txt")
      const args = { prompt: run, cwd: here.workspace }
      assert.include(textOf(yield* call("codex", args)), "rejected")
      assert.isFalse(existsSync(made))
      assert.include(textOf(yield* call("codex", args)), "it was made")
      assert.include(asked[1], "touch made.txt")
      assert.isTrue(existsSync(made))
    }),
  )
}

const denialCheck = (gateway: Gateway): void => {
  it.live("a command that needs an approval is denied at once, and the turn continues", () =>
    Effect.gen(function* () {
      const here = yield* place(gateway.client)
      const { url } = yield* served(gateway, here)
      const { call } = yield* connected(url, gateway.transport)
      const made = join(here.workspace, "made.txt")
      const args = { prompt: run, cwd: here.workspace }
      assert.include(textOf(yield* call("codex", args)), "rejected")
      assert.isFalse(existsSync(made))
      const allowed = yield* call("codex", { ...args, "approval-policy": "never" })
      assert.include(textOf(allowed), "it was made")
    }),
  )
}

const errorCheck = (gateway: Gateway): void => {
  it.live("the result of a call with a misspelt argument is an error that names it", () =>
    Effect.gen(function* () {
      const { url } = yield* served(gateway, yield* place(gateway.client))
      const { call } = yield* connected(url, gateway.transport)
      const result = yield* call("codex", { promt: "say one" })
      assert.isTrue(result.isError)
      assert.include(textOf(result), "`promt`, did you mean `prompt`?")
    }),
  )
}

const declarationCheck = (gateway: Gateway): void => {
  it.live("declares to the server what the page says", () =>
    Effect.gen(function* () {
      const here = yield* place(gateway.client)
      const { declared, directory } = recorder(here)
      const { url } = yield* served(gateway, here, directory)
      const { call } = yield* connected(url, gateway.transport)
      yield* call("codex", { prompt: "say hello" })
      assert.deepStrictEqual(declared(), declaredOnPage(gateway.client))
    }),
  )
}

/** All checks over one transport. */
export const gatewayChecks = (gateway: Gateway): void => {
  conversationCheck(gateway)
  if (declaredOnPage(gateway.client).approvals) questionCheck(gateway)
  else denialCheck(gateway)
  errorCheck(gateway)
  endChecks(gateway)
  declarationCheck(gateway)
}

/** The checks that differ over another transport of the same gateway. */
export const otherTransportChecks = (gateway: Gateway): void => {
  conversationCheck(gateway)
  if (declaredOnPage(gateway.client).approvals) questionCheck(gateway)
  else denialCheck(gateway)
}
