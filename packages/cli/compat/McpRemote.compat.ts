/** Checks mcp-remote: the official clients start it as a server over standard streams, and it reaches Colloquy over HTTP. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { home } from "../test/support/Home.ts"
import { declaredOnPage, setup } from "./ClientsPage.ts"
import { describeClient, type Serve, type ServerAddress, type ServerCommand } from "./Driver.ts"
import { proxyTo } from "./HttpProxy.ts"
import { listening } from "./Listening.ts"
import { approvals, calls, turns } from "./OfficialClients.ts"
import { leftIn, type Place, place } from "./Place.ts"
import { connected, free, until } from "./Playing.ts"
import { declaredIn } from "./Recorder.ts"
import * as SdkV1 from "./SdkV1.ts"

beforeAll(buildIfMissing)

const client = "mcp-remote"

interface Settings {
  readonly mcpServers: { readonly codex: Omit<ServerCommand, "env"> }
}

/** The command of the page for this server. */
const commandIn = (
  { env }: Place,
  { token, url }: ServerAddress,
  more: ReadonlyArray<string> = [],
  path = "/mcp",
): ServerCommand => {
  const values = { PORT: Number(new URL(url).port), TOKEN: token }
  const { mcpServers } = JSON.parse(setup(client, "json", values)) as Settings
  const { args, command } = mcpServers.codex
  const words = args.map((word) => word.replace(/\/mcp$/, path))
  return { command, args: [...words, ...more], env: { ...env } }
}

const remoteIn =
  (here: Place, more?: ReadonlyArray<string>, path?: string): Serve =>
  (overrides) =>
    Effect.map(listening(overrides), (address) => commandIn(here, address, more, path))

const remote =
  (more?: ReadonlyArray<string>, path?: string): Serve =>
  (overrides) =>
    Effect.flatMap(place(client), (here) => remoteIn(here, more, path)(overrides))

describeClient(client, () => {
  describeClient("@modelcontextprotocol/sdk", () => {
    describe("with the handshake", () => {
      const way = { connect: SdkV1.connect, serve: remote() }
      approvals(way)
      calls(way, { relayed: true })
    })
    describe("without a handshake", () => {
      const way = { connect: SdkV1.connect, serve: remote(["--protocol", "auto"]) }
      approvals(way, { stateless: true })
      calls(way, { relayed: true, stateless: true, cancels: false })

      it.live("a call that is cancelled goes on: it tells the server in no way that it reads", () =>
        Effect.gen(function* () {
          const cwd = yield* home()
          const driver = yield* connected(way, free)
          const abort = yield* Effect.sync(() => new AbortController())
          const prompt = "run: sleep 2; touch went-on"
          const { signal } = abort
          const call = driver.call("codex", { prompt, cwd }, { signal }).catch(() => "cancelled")
          yield* Effect.promise(() =>
            until(() => driver.events.some(({ type }) => type === "exec_command_begin")),
          )
          abort.abort()
          assert.strictEqual(yield* Effect.promise(() => call), "cancelled")
          yield* Effect.promise(() => until(() => existsSync(join(cwd, "went-on"))))
        }),
      )
    })
    describe("over SSE", () => {
      const way = { connect: SdkV1.connect, serve: remote(["--transport", "sse-only"], "/sse") }
      turns(way, "2025-11-25")
    })

    it.live("declares to the server what the page says", () =>
      Effect.gen(function* () {
        const { token, url } = yield* listening(free)
        const proxy = yield* proxyTo(url)
        const here = yield* place(client)
        const serve = () => Effect.succeed(commandIn(here, { url: proxy.url, token }))
        const accepts = () => Promise.resolve({ action: "accept" } as const)
        const { call } = yield* connected({ connect: SdkV1.connect, serve }, [], accepts)
        const onprogress = () => {}
        yield* Effect.promise(() => call("codex", { prompt: "say hello" }, { onprogress }))
        const { key: _, ...expected } = declaredOnPage(client)
        assert.deepStrictEqual(declaredIn(proxy.requests.map(({ body }) => body)), expected)
      }),
    )

    it.live("L8 no process is left behind when its client closes its input", () =>
      Effect.gen(function* () {
        const here = yield* place(client)
        const way = { connect: SdkV1.connect, serve: remoteIn(here) }
        yield* Effect.scoped(
          Effect.flatMap(connected(way, free), ({ call }) =>
            Effect.promise(() => call("codex", { prompt: "say one" })),
          ),
        )
        assert.deepStrictEqual(yield* leftIn(here), [])
      }),
    )
  })
})
