import type { UserInputAnswer, UserInputRequest } from "@colloquy/core/approvals/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { userInputTool } from "../../src/input/UserInputTool.ts"
import { callOf, watched } from "../support/Context.ts"

const question = { id: "colour", header: "Colour", question: "Which colour?" }
const options = [{ label: "Red", description: "warm" }]

const call = (args: unknown, answer: UserInputAnswer) => {
  const asked: Array<UserInputRequest> = []
  const context = {
    ...watched().context,
    requestInput: (request: UserInputRequest) => Effect.sync(() => (asked.push(request), answer)),
  }
  return Effect.map(userInputTool.run(callOf("request_user_input", args), context), (result) => ({
    ...result,
    asked,
  }))
}

const answered: UserInputAnswer = {
  _tag: "Answered",
  answers: { colour: { answers: ["Red"] } },
}

describe("request_user_input", () => {
  it("is offered in plan mode, and in every mode where the configuration says so", () => {
    const offered = (settings: object) => userInputTool.spec(watched(settings).context.settings)
    assert.isUndefined(offered({}))
    assert.isUndefined(offered({ collaborationMode: { mode: "default" } }))
    assert.isDefined(offered({ collaborationMode: { mode: "plan" } }))
    assert.isDefined(offered({ includeUserInputTool: true }))
    assert.isTrue(userInputTool.asksPerson)
  })

  it.effect("asks, and gives the answers as JSON", () =>
    Effect.gen(function* () {
      const result = yield* call({ questions: [{ ...question, options }] }, answered)
      assert.deepStrictEqual(result, {
        output: '{"answers":{"colour":{"answers":["Red"]}}}',
        asked: [
          {
            callId: "c",
            questions: [{ ...question, is_other: true, is_secret: false, options }],
          },
        ],
      })
    }),
  )

  it.effect.each([
    ["answered", /^the person declined to answer/],
    ["expired", /^nobody answered \(expired\)/],
  ] as const)("without an answer the model reads why: %s", ([reason, text]) =>
    Effect.gen(function* () {
      const { output } = yield* call({ questions: [question] }, { _tag: "Unanswered", reason })
      assert.match(output, text)
    }),
  )

  it.effect.each([
    [{ questions: [] }, /expected one to three questions \(field `questions`\)/],
    [
      { questions: ["a", "b", "c", "d"].map((id) => ({ ...question, id })) },
      /expected one to three questions \(field `questions`\)/,
    ],
    [{ questions: [question, question] }, /different ids, got `colour` twice/],
    [{ questions: [{ id: "a" }] }, /header/],
    [{}, /questions/],
  ] as const)("refuses %j", ([args, text]) =>
    Effect.gen(function* () {
      const { asked, isRefused, output } = yield* call(args, answered)
      assert.isTrue(isRefused)
      assert.deepStrictEqual(asked, [])
      assert.match(output, text)
    }),
  )
})
