import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { Agent } from "@colloquy/agent"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const agent = Agent.make({
  instructions: "You are friendly and brief.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
})

const page = HttpRouter.add(
  "GET",
  "/",
  HttpServerResponse.html(readFileSync(join(import.meta.dirname, "index.html"), "utf8")),
)

/** `GET /ask?message=…`: the events of one turn as server-sent events, ended by one of the type `end`. */
const ask = HttpRouter.add(
  "GET",
  "/ask",
  Effect.gen(function* () {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const message = new URL(url, "http://localhost").searchParams.get("message") ?? ""
    const events = Stream.unwrap(Effect.map(agent.open(), (chat) => chat.ask(message))).pipe(
      Stream.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      Stream.catch((error) =>
        Stream.make(`event: failure\ndata: ${JSON.stringify({ message: error.message })}\n\n`),
      ),
      Stream.concat(Stream.make("event: end\ndata: {}\n\n")),
      Stream.encodeText,
    )
    return HttpServerResponse.stream(events, { contentType: "text/event-stream" })
  }),
)

const port = Number(process.env.PORT ?? 8080)
const server = NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port })

await Effect.runPromise(
  Layer.launch(HttpRouter.serve(Layer.merge(page, ask)).pipe(Layer.provide(server))),
)
