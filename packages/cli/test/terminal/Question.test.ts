import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { questionOf } from "../../src/terminal/chat/Question.ts"

const asked = (...options: ReadonlyArray<string>): Event => ({
  seq: 4,
  id: "t",
  msg: {
    type: "request_user_input",
    call_id: "c",
    questions: [
      {
        id: "colour",
        header: "Colour",
        question: "Which colour?",
        is_other: true,
        is_secret: false,
        options:
          options.length === 0 ? null : options.map((label) => ({ label, description: "nice" })),
      },
    ],
  },
})

const answer = (response: unknown) => ({
  type: "user_input_answer",
  id: "c",
  question: 4,
  response,
})

describe("the agent's questions in the chat", () => {
  it("a key makes the choice", () => {
    const question = questionOf(asked("Red", "Blue"), 0)
    const blue = question?.answers["2"]
    if (question === undefined || blue === undefined) throw new Error("no question")
    assert.match(question.text, /Which colour\?[^]*1\. Red: nice\n2\. Blue: nice$/)
    assert.strictEqual(question.hint, "[1]–[2] choose  [n] decline")
    assert.strictEqual(blue.text, "Blue")
    assert.deepStrictEqual<unknown>(
      question.opOf(blue),
      answer({ answers: { colour: { answers: ["Blue"] } } }),
    )
  })

  it("a question for a text can only be declined", () => {
    const question = questionOf(asked(), 0)
    assert.deepStrictEqual(Object.keys(question?.answers ?? {}), ["n", "escape"])
    const no = question?.answers["n"]
    assert.deepStrictEqual<unknown>(no && question?.opOf(no), answer(null))
  })
})
