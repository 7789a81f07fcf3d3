import { readFileSync } from "node:fs"
import { Agent } from "@colloquy/agent"
import { Console, Effect } from "effect"
import { review } from "./review.ts"

/** Responses for a run without a key. */
const answer = JSON.stringify({ verdict: "approve", remarks: ["reads well"] })
const script = Array.from({ length: 1000 }, () => [{ text: answer }])

const agent = Agent.make({
  instructions: "You review code. Be brief.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline({ script }),
})

const names = process.argv.slice(2)
const files = (names.length === 0 ? [import.meta.filename] : names).map((name) => ({
  name,
  text: readFileSync(name, "utf8"),
}))

await Effect.runPromise(
  Effect.scoped(review(agent, files)).pipe(
    Effect.flatMap(
      Effect.forEach(({ name, remarks, verdict }) =>
        Console.log(`${verdict}  ${name}: ${remarks.join("; ")}`),
      ),
    ),
    Effect.catchTag("BudgetExceeded", ({ message }) => Console.error(message)),
  ),
)
