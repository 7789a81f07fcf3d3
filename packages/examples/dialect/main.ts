import { Agent } from "@colloquy/agent"
import * as ProcessConnection from "@colloquy/transport-stdio/ProcessConnection"
import { Effect } from "effect"
import { serve } from "./Server.ts"

const agent = Agent.make({
  instructions: "You are friendly and brief.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
})

await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* ProcessConnection.open
      yield* serve(agent, connection)
      yield* connection.flush
    }),
  ),
)
