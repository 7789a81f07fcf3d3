/** The smallest program with an agent: one answer, printed as it arrives. */
import { Agent } from "colloquy"
import { Effect, Stream } from "effect"

const agent = Agent.make({ instructions: "Be brief.", model: Agent.offline() })

const hello = Effect.gen(function* () {
  const chat = yield* agent.open()
  yield* chat.ask("hello").pipe(
    Stream.filter((event) => event.type === "agent_message_delta"),
    Stream.runForEach(({ delta }) => Effect.sync(() => process.stdout.write(delta))),
  )
})

await Effect.runPromise(Effect.scoped(hello))
