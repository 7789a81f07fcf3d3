import { Agent } from "colloquy"
import { Console, Effect, Stream } from "effect"

const agent = Agent.make({ instructions: "You are kind.", model: Agent.offline() })

const program = Effect.gen(function* () {
  const chat = yield* agent.open("hello")
  yield* chat.ask("Hello!").pipe(
    Stream.filter((msg) => msg.type === "agent_message"),
    Stream.runForEach((msg) => Console.log(msg.message)),
  )
})

await Effect.runPromise(Effect.scoped(program))
