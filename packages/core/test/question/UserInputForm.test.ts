import { assert, describe, it } from "@effect/vitest"
import { answersOfForm, userInputForm } from "../../src/question/UserInputForm.ts"

const question = {
  id: "colour",
  header: "Colour",
  question: "Which?",
  is_other: false,
  is_secret: false,
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "" },
  ],
}

describe("userInputForm", () => {
  it("has a member for each question, with the model's text in quotes", () => {
    assert.deepStrictEqual(
      userInputForm([question, { ...question, id: "text", is_other: true, options: null }]),
      {
        server: "agent",
        message: 'The agent asks: "Which?"\nThe agent asks: "Which?"',
        requestedSchema: {
          type: "object",
          properties: {
            colour: {
              type: "string",
              title: '"Colour"',
              description: '"Which?\\n" "Red: warm\\n" "Blue"',
              enum: ["Red", "Blue"],
            },
            text: { type: "string", title: '"Colour"', description: '"Which?"' },
          },
          required: ["colour", "text"],
        },
      },
    )
  })
})

describe("answersOfForm", () => {
  it("reads texts, lists and other values", () => {
    assert.deepStrictEqual(answersOfForm({ a: "Red", b: ["x", 2], c: true }), {
      a: { answers: ["Red"] },
      b: { answers: ["x", "2"] },
      c: { answers: ["true"] },
    })
  })
})
