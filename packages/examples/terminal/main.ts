import { createInterface } from "node:readline/promises"
import { Agent } from "@colloquy/agent"
import { Effect, Exit, Schema, Stream } from "effect"

const terminal = createInterface({ input: process.stdin, output: process.stdout })

const remember = Agent.tool("remember", {
  description: "Writes a note for later.",
  input: { note: Schema.String },
  approve: true,
  run: ({ note }) => Effect.succeed(`noted: ${note}`),
})

const agent = Agent.make({
  instructions: "You are a helpful companion.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
  tools: [remember],
  onApproval: ({ input }) =>
    Effect.promise(() => terminal.question(`\nremember "${input.note}" [y/n]? `)).pipe(
      Effect.map((answer) => answer.startsWith("y")),
    ),
})

const program = Effect.gen(function* () {
  const chat = yield* agent.open()
  for (;;) {
    const text = yield* Effect.promise(() => terminal.question("\n> ").catch(() => undefined))
    if (text === undefined || text === "/quit") return
    if (text === "") continue
    const turn = yield* chat.ask(text).start
    // Ctrl-C interrupts the turn; at the prompt it ends the program.
    const interrupt = () => Effect.runFork(turn.interrupt)
    terminal.on("SIGINT", interrupt)
    yield* Stream.runForEach(turn.events, (event) =>
      Effect.sync(() => {
        if (event.type === "agent_message_delta") process.stdout.write(event.delta)
      }),
    )
    terminal.off("SIGINT", interrupt)
    const exit = yield* Effect.exit(turn.result)
    if (Exit.isFailure(exit)) console.error(String(exit.cause))
  }
})

await Effect.runPromise(Effect.scoped(program))
terminal.close()
