import { createInterface } from "node:readline/promises"
import { Agent } from "@colloquy/agent"
import { Effect, Schema, Stream } from "effect"

const { stdin, stdout } = process
const terminal = createInterface({ input: stdin, output: stdout })
const lines = terminal[Symbol.asyncIterator]()

/** The next line; undefined after the last one, and after Ctrl-C. */
const line = async (prompt: string) => {
  if (stdin.isTTY) {
    terminal.setPrompt(prompt)
    terminal.prompt()
  } else stdout.write(prompt)
  return (await lines.next()).value
}

/** One key, or without a terminal one line. */
const key = async (question: string) => {
  if (!stdin.isTTY) return line(question)
  terminal.setPrompt("")
  stdout.write(question)
  const pressed = await new Promise<string>((resolve) => void stdin.once("keypress", resolve))
  stdout.write("\n")
  // The key is no part of the next line.
  terminal.write(null, { ctrl: true, name: "u" })
  return pressed
}

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
    Effect.map(
      Effect.promise(() => key(`\nremember "${input.note}" [y/n]? `)),
      (pressed) => pressed?.startsWith("y") ?? false,
    ),
})

/** Prints one turn. Ctrl-C interrupts it. */
const print = (ask: Agent.Ask) => {
  const interrupted = Effect.callback<void>((resume) => {
    const stop = () => resume(Effect.void)
    terminal.once("SIGINT", stop)
    return Effect.sync(() => terminal.off("SIGINT", stop))
  })
  return ask.pipe(
    Stream.interruptWhen(interrupted),
    Stream.runForEach((event) =>
      Effect.sync(() => {
        if (event.type === "agent_message_delta") stdout.write(event.delta)
      }),
    ),
    Effect.catch(({ message }) => Effect.sync(() => console.error(message))),
  )
}

const program = Effect.gen(function* () {
  const chat = yield* agent.open()
  for (;;) {
    const text = yield* Effect.promise(() => line("\n> "))
    if (text === undefined || text === "/quit") return
    if (text !== "") yield* print(chat.ask(text))
  }
})

await Effect.runPromise(Effect.scoped(program))
terminal.close()
