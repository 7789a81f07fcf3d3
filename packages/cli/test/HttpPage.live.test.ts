/** The page about HTTP shows a program that is compiled and run here, and commands that a shell runs against it. */
import * as Models from "@colloquy/models/Models"
import { offlineProvider } from "@colloquy/models/Providers"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Resolve from "@colloquy/config/Resolve"
import { Server } from "@colloquy/server/Server"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { execFile } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { httpServer } from "./support/HttpExample.ts"
import { mcp } from "./support/MountExample.ts"

const read = (path: string) => Fs.readFileSync(new URL(path, import.meta.url), "utf8")
const page = read("../../docs/http.md")
const token = "token-of-the-test"

const server = Server.layerDefault().pipe(
  Layer.provide(Conversations.layer),
  Layer.provide([Models.layer(), ToolRuntime.layerNone, IdGenerator.layer]),
  Layer.provide(MemoryStore.layer),
  Layer.provide(
    Resolve.layer({
      tree: { model: "offline" },
      builtinProviders: [offlineProvider],
      defaultProvider: "offline",
      cwd: "/tmp",
    }),
  ),
  Layer.provide(FetchHttpClient.layer),
)

/** Runs a script and resolves with its standard output; fails the test when it fails. */
const shell = (script: string, environment: Readonly<Record<string, string>>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "colloquy-http-"))),
    (cwd) =>
      Effect.callback<string>((resume) => {
        const child = execFile(
          "bash",
          ["-euo", "pipefail", "-O", "expand_aliases", "-c", script],
          { cwd, env: { ...process.env, ...environment }, timeout: 20_000 },
          (error, stdout, stderr) =>
            resume(error ? Effect.die(new Error(`${stderr}\n${stdout}`)) : Effect.succeed(stdout)),
        )
        return Effect.sync(() => child.kill())
      }),
    (cwd) => Effect.sync(() => Fs.rmSync(cwd, { recursive: true, maxRetries: 10 })),
  )

const serving = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  return address._tag === "InetAddressV4" ? `http://127.0.0.1:${address.port}` : ""
})

const withServer = <A>(body: (url: string) => Effect.Effect<A>) =>
  Effect.flatMap(serving, body).pipe(Effect.provide(Layer.provide(httpServer(0, token), server)))

describe("the page about HTTP", () => {
  it.effect("shows how an application mounts `/mcp` beside its own routes", () =>
    Effect.gen(function* () {
      assert.include(page, `\`\`\`ts\n${read("./support/MountExample.ts")}\`\`\``)
      const own = HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello"))
      const app = yield* HttpRouter.toHttpEffect(
        Layer.merge(own, mcp(token)).pipe(Layer.provide([HttpServer.layerServices, server])),
      )
      const respond = Effect.fnUntraced(function* (request: Request) {
        const response = yield* Effect.provideService(
          app,
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(request),
        )
        return HttpServerResponse.toWeb(response)
      })
      const post = (headers: Readonly<Record<string, string>>) =>
        respond(
          new Request("http://localhost/mcp", {
            method: "POST",
            headers: {
              host: "localhost",
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              ...headers,
            },
            body: JSON.stringify({
              jsonrpc: "2.0",
              id: 1,
              method: "initialize",
              params: {
                protocolVersion: "2025-11-25",
                capabilities: {},
                clientInfo: { name: "test", version: "1" },
              },
            }),
          }),
        )
      const hello = yield* respond(new Request("http://localhost/hello"))
      assert.strictEqual(yield* Effect.promise(() => hello.text()), "hello")
      assert.strictEqual((yield* post({})).status, 401)
      const initialized = yield* post({ authorization: `Bearer ${token}` })
      assert.strictEqual(initialized.status, 200)
      assert.include(
        yield* Effect.promise(() => initialized.text()),
        '"protocolVersion":"2025-11-25"',
      )
    }).pipe(Effect.scoped),
  )

  it("shows the program that is compiled and run here, letter for letter", () => {
    assert.include(page, `\`\`\`ts\n${read("./support/HttpExample.ts")}\`\`\``)
  })

  it.live("its commands run, in order", () =>
    withServer((url) =>
      Effect.gen(function* () {
        const blocks = Array.from(page.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block]) => block)
        assert.isAbove(blocks.length, 5)
        const script = [...blocks, "head -c 12 openapi.json"].join("\necho\n")
        const output = yield* shell(script, { URL: url, TOKEN: token })
        const [, shown = ""] = /^```text\n(id: [\s\S]*?)^```$/m.exec(page) ?? []
        const shownEvents = shown.trim().split("\n\n")
        assert.lengthOf(shownEvents, 2)
        for (const expected of [
          '"status":"idle"',
          '"status":"completed","seq":',
          '"lastAgentMessage":"hello from curl"',
          '{"turnId":"my-id","disposition":"started"}',
          ...shownEvents,
          '{"items":[]}',
          '{"code":"invalid_request","message":"limit: expected a whole number from 1 to 1000; got 0","field":"limit"}',
          '{"openapi":"',
        ])
          assert.include(output, expected)
      }),
    ),
  )

  it.live(
    "its program refuses a request without the token, of a web page, and to another name",
    () =>
      withServer((url) =>
        Effect.gen(function* () {
          const status = (more: string) =>
            shell(`curl -s -o /dev/null -w '%{http_code}' ${more} "$URL/v1/conversations"`, {
              URL: url,
              TOKEN: token,
            })
          assert.strictEqual(yield* status('--oauth2-bearer "$TOKEN"'), "200")
          assert.strictEqual(yield* status(""), "401")
          assert.strictEqual(yield* status("--oauth2-bearer wrong"), "401")
          assert.strictEqual(
            yield* status('--oauth2-bearer "$TOKEN" -H "Origin: http://localhost"'),
            "403",
          )
          assert.strictEqual(
            yield* status('--oauth2-bearer "$TOKEN" -H "Host: evil.example:80"'),
            "403",
          )
          const upgrade = "-H 'Connection: Upgrade' -H 'Upgrade: websocket'"
          assert.strictEqual(
            yield* shell(`curl -s -o /dev/null -w '%{http_code}' ${upgrade} "$URL/ws"`, {
              URL: url,
            }),
            "401",
          )
        }),
      ),
  )
})
