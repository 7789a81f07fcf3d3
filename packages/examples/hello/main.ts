import { Agent } from "@colloquy/agent"
import { Effect, Stream } from "effect"

const model = process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline()
const agent = Agent.make({ instructions: "You are friendly and brief.", model })

const hello = Effect.gen(function* () {
  const chat = yield* agent.open()
  yield* chat.ask("say Hello! What shall we build?").pipe(
    Stream.filter((event) => event.type === "agent_message_delta"),
    Stream.runForEach(({ delta }) => Effect.sync(() => process.stdout.write(delta))),
  )
})

await Effect.runPromise(Effect.scoped(hello))
