import { Agent } from "@colloquy/agent"
import { Effect, Schema } from "effect"

const Verdict = Schema.Struct({
  verdict: Schema.Literals(["approve", "reject"]),
  remarks: Schema.Array(Schema.String),
})

/** Reviews files at the same time, each in a conversation of its own, all within one budget. */
export const review = Effect.fn("review")(function* (
  agent: Agent.Agent,
  files: ReadonlyArray<{ readonly name: string; readonly text: string }>,
) {
  const chat = yield* agent.open(undefined, { budget: { tokens: 200_000, time: "5 minutes" } })
  return yield* Effect.forEach(
    files,
    ({ name, text }) =>
      Effect.gen(function* () {
        const child = yield* chat.child()
        const { value } = yield* child.ask(`Review ${name}:\n\n${text}`, { schema: Verdict }).result
        return { name, ...value }
      }).pipe(
        // One file that cannot be reviewed does not end the review of the others.
        Effect.catchTag(["AnswerMismatch", "TurnFailed"], (error) =>
          Effect.succeed({ name, verdict: "reject" as const, remarks: [error.message] }),
        ),
      ),
    { concurrency: 4 },
  )
})
