import { createInterface } from "node:readline/promises"
import { Effect, Stream } from "effect"
import { Shop, till } from "./till.ts"

const terminal = createInterface({ input: process.stdin, output: process.stdout })

const program = Effect.gen(function* () {
  const chat = yield* till.open("counter 1")
  const ask = chat.ask("Please refund order A1.", {
    onApproval: ({ input, tool }) =>
      Effect.promise(() => terminal.question(`${tool} ${JSON.stringify(input)} [y/n]? `)).pipe(
        Effect.map((answer) => answer.startsWith("y")),
      ),
  })
  yield* Stream.runForEach(ask, (event) =>
    Effect.sync(() => {
      if (event.type === "tool_call_end") console.log(event.tool, event.result)
      if (event.type === "agent_message") console.log(event.message)
    }),
  )
})

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(Shop.layer)))
terminal.close()
