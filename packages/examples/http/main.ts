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

const Message = Schema.Struct({ message: Schema.NonEmptyString })

/** One status for each way in which a request can fail: a new one does not compile without it. */
const statuses: Record<Agent.OpenError["_tag"] | Agent.TurnError["_tag"], number> = {
  AskRefused: 409,
  BudgetExceeded: 429,
  TurnFailed: 502,
  AnswerMismatch: 502,
  TurnInterrupted: 503,
  TurnLost: 503,
  ChatClosed: 503,
  ConversationUnavailable: 503,
  TooManyConversations: 503,
  ManagerClosed: 503,
  StoreError: 500,
}

/** The answer of the agent in the conversation of this name. A client that goes away interrupts its turn. */
const answer = Effect.fn(function* (name: string, message: string) {
  const chat = yield* agent.open(name)
  const { text } = yield* chat.ask(message).result
  return { conversation: chat.id, answer: text }
}, Effect.scoped)

/** `POST /chats/NAME` with `{ "message": … }`. Two requests for one name are answered one after the other. */
const chats = HttpRouter.add(
  "POST",
  "/chats/:name",
  Effect.gen(function* () {
    const { name = "" } = yield* HttpRouter.params
    const body = yield* Effect.result(HttpServerRequest.schemaBodyJson(Message))
    if (body._tag === "Failure") {
      return yield* HttpServerResponse.json({ error: body.failure.message }, { status: 400 })
    }
    const { content, status } = yield* Effect.match(answer(name, body.success.message), {
      onSuccess: (content) => ({ status: 200, content }),
      onFailure: (error) => ({ status: statuses[error._tag], content: { error: error.message } }),
    })
    return yield* HttpServerResponse.json(content, { status })
  }),
)

const port = Number(process.env.PORT ?? 8080)
const server = NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port })

await Effect.runPromise(Layer.launch(HttpRouter.serve(chats).pipe(Layer.provide(server))))
