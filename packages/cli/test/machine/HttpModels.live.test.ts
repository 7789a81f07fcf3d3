import { ModelClient, type ModelRequest } from "@colloquy/core/ModelClient"
import { providerDefaults } from "@colloquy/models/Providers"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import * as HttpModels from "../../src/machine/HttpModels.ts"

const answer = `data: ${JSON.stringify({
  type: "response.completed",
  response: { id: "r", usage: null },
})}\n\n`

/** A provider that counts its connections. */
const startProvider = Effect.acquireRelease(
  Effect.callback<{
    readonly server: Http.Server
    readonly baseUrl: string
    readonly connections: () => number
  }>((resume) => {
    let connections = 0
    const server = Http.createServer((request, response) => {
      request.resume()
      request.on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end(answer)
      })
    })
    server.on("connection", () => connections++)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      resume(
        Effect.succeed({
          server,
          baseUrl: `http://127.0.0.1:${port}/v1`,
          connections: () => connections,
        }),
      )
    })
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

const requestTo = (baseUrl: string): ModelRequest => ({
  conversationId: ConversationId.make("019b2f00-0000-7000-8000-000000000000"),
  provider: {
    ...providerDefaults,
    id: "mock",
    name: "Mock",
    wire: "responses",
    baseUrl,
    requestMaxRetries: 1,
    streamMaxRetries: 0,
  },
  model: "m",
  instructions: "",
  input: [],
  tools: [],
})

const started = Effect.gen(function* () {
  const provider = yield* startProvider
  const services = yield* Layer.build(HttpModels.layer({}))
  const client = Context.get(services, ModelClient)
  return { ...provider, ask: Stream.runDrain(client.stream(requestTo(provider.baseUrl))) }
})

describe("models over the network", () => {
  it.live("a request uses the connection of the one before", () =>
    Effect.gen(function* () {
      const { ask, connections } = yield* started
      yield* ask
      yield* ask
      assert.strictEqual(connections(), 1)
    }),
  )

  it.live("a request succeeds although the provider closed the kept connection", () =>
    Effect.gen(function* () {
      const { ask, connections, server } = yield* started
      yield* ask
      server.closeAllConnections()
      yield* ask
      assert.strictEqual(connections(), 2)
    }),
  )
})
