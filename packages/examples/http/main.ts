import { createServer } from "node:http"
import { Agent } from "@colloquy/agent"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const agent = Agent.make({
  instructions: "You are the help desk of a library.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
  store: Agent.files("./state"),
  budget: { turns: 100 },
})

const Message = Schema.Struct({ message: Schema.String })

/** `POST /chats/NAME` with `{ "message": … }`: the answer of the agent in the conversation of that name. */
const chats = HttpRouter.add(
  "POST",
  "/chats/:name",
  Effect.gen(function* () {
    const { name } = yield* HttpRouter.params
    const { message } = yield* HttpServerRequest.schemaBodyJson(Message)
    const chat = yield* agent.open(name)
    const { text } = yield* chat.ask(message).result
    return yield* HttpServerResponse.json({ conversation: chat.id, answer: text })
  }).pipe(
    Effect.catchTag("SchemaError", ({ message: error }) =>
      HttpServerResponse.json({ error }, { status: 400 }),
    ),
    Effect.catchTag("BudgetExceeded", ({ message: error }) =>
      HttpServerResponse.json({ error }, { status: 429 }),
    ),
    Effect.catchTag(["TurnFailed", "TurnLost", "ConversationUnavailable"], ({ message: error }) =>
      HttpServerResponse.json({ error }, { status: 503 }),
    ),
  ),
)

const port = Number(process.env.PORT ?? 8080)
const server = NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port })

await Effect.runPromise(Layer.launch(HttpRouter.serve(chats).pipe(Layer.provide(server))))
