import { Agent } from "@colloquy/agent"
import { Console, Effect } from "effect"
import * as SqliteStore from "./SqliteStore.ts"

const [message = "Hello?", file = "chats.sqlite"] = process.argv.slice(2)

const agent = Agent.make({
  instructions: "You are a friendly librarian.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
  store: SqliteStore.layer(file),
})

const program = Effect.gen(function* () {
  const chat = yield* agent.open("desk 1")
  yield* Console.log(chat.isResumed ? "Where were we?" : "Welcome.")
  yield* Console.log((yield* chat.ask(message).result).text)
})

await Effect.runPromise(Effect.scoped(program))
