import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { Agent } from "@colloquy/agent"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, RcMap, Schema, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const agent = Agent.make({
  instructions: "You are friendly and brief.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
  store: Agent.files("./state"),
})

const Message = Schema.Struct({ message: Schema.NonEmptyString })

const sent = (data: object, id = "") => `${id}data: ${JSON.stringify(data)}\n\n`

/** Recorded events have ids, by which a browser that reconnects continues; a delta belongs to the event before it. */
const serverSent = ({ msg, seq }: Agent.Event): string =>
  sent(msg, msg.type.endsWith("_delta") ? "" : `id: ${seq}\n`)

const routes = Effect.gen(function* () {
  // A chat stays open for a while after its last request and its last reader: its turn goes on meanwhile.
  const chats = yield* RcMap.make({
    lookup: (name: string) => agent.open(name),
    idleTimeToLive: "5 minutes",
  })
  const chat = Effect.flatMap(HttpRouter.params, ({ name = "" }) => RcMap.get(chats, name))

  const page = HttpRouter.add(
    "GET",
    "/",
    HttpServerResponse.html(readFileSync(join(import.meta.dirname, "index.html"), "utf8")),
  )

  /** `POST /chats/NAME` with `{ "message": … }` starts a turn. Its events are those of the conversation. */
  const ask = HttpRouter.add(
    "POST",
    "/chats/:name",
    Effect.gen(function* () {
      const { message } = yield* HttpServerRequest.schemaBodyJson(Message)
      const { id } = yield* (yield* chat).ask(message).start
      return yield* HttpServerResponse.json({ turn: id }, { status: 202 })
    }).pipe(
      Effect.scoped,
      Effect.catch(({ message: error }) => HttpServerResponse.json({ error }, { status: 400 })),
    ),
  )

  /** `GET /chats/NAME/events`: everything that happened and happens, or what follows the `Last-Event-ID`. */
  const events = HttpRouter.add(
    "GET",
    "/chats/:name/events",
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { name = "" } = yield* HttpRouter.params
      const from = Number(headers["last-event-id"] ?? -1) + 1
      const stream = Stream.unwrap(
        Effect.map(RcMap.get(chats, name), (opened) => opened.events({ from })),
      )
      return HttpServerResponse.stream(
        stream.pipe(
          Stream.map(serverSent),
          Stream.catch(({ message }) => Stream.succeed(sent({ type: "error", message }))),
          Stream.encodeText,
        ),
        { contentType: "text/event-stream" },
      )
    }),
  )

  return Layer.mergeAll(page, ask, events)
})

const port = Number(process.env.PORT ?? 8080)
const server = NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port })

await Effect.runPromise(
  Layer.launch(HttpRouter.serve(Layer.unwrap(routes)).pipe(Layer.provide(server))),
)
