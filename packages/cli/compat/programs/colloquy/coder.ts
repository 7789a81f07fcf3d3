import { Agent } from "colloquy"
import type { Effect } from "effect"

/** Works in one directory. A person decides about each command that leaves the sandbox; patches change no other files. */
export const coderIn = (cwd: string, confirm: (question: string) => Effect.Effect<boolean>) =>
  Agent.make({
    name: "coder",
    version: "1.0.0",
    instructions: "You fix bugs.",
    model: Agent.openai("gpt-5"),
    machine: Agent.machine({ cwd }),
    onApproval: (question) => {
      switch (question.tool) {
        case "shell":
          return confirm(question.reason)
        case "apply_patch":
          return false
      }
    },
  })
