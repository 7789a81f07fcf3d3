/** `request_user_input`: asks the person questions, and gives the model the answers as JSON. */
import type { UserInputAnswer } from "@colloquy/core/approvals/Approval"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { refusedCall } from "@colloquy/core/ToolRuntime"
import { functionTool, type Tool, toolArguments } from "../Tool.ts"

const Option = Schema.Struct({
  label: Schema.String.annotate({ description: "The choice, in one to five words." }),
  description: Schema.String.annotate({ description: "What follows from it, in a sentence." }),
})

const Question = Schema.Struct({
  id: Schema.String.annotate({ description: "Name of the answer in the result, in snake_case." }),
  header: Schema.String.annotate({ description: "Title of at most 12 characters." }),
  question: Schema.String.annotate({ description: "The question, in one sentence." }),
  options: Schema.optionalKey(
    Schema.NullOr(Schema.Array(Option)).annotate({
      description:
        "Two or three choices that exclude each other, the one that you would choose first. The person can always write another answer. Leave it out if only a text can answer.",
    }),
  ),
})

const inputArguments = toolArguments(
  Schema.Struct({
    questions: Schema.Array(Question)
      .check(
        Schema.isMinLength(1, { message: "expected one to three questions" }),
        Schema.isMaxLength(3, { message: "expected one to three questions" }),
      )
      .annotate({ description: "One to three questions." }),
  }),
)

/** What the model reads about the outcome. */
const outputOf = (answer: UserInputAnswer): string => {
  if (answer._tag === "Answered") return JSON.stringify({ answers: answer.answers })
  return answer.reason === "answered"
    ? "the person declined to answer; decide yourself and say what you assumed"
    : `nobody answered (${answer.reason}); decide yourself and say what you assumed`
}

const faultOf = (ids: ReadonlyArray<string>): string | undefined => {
  const twice = ids.find((id, at) => id === "" || ids.indexOf(id) !== at)
  return twice === undefined
    ? undefined
    : `expected questions with different ids, got \`${twice}\` twice or an empty id`
}

/** The tool `request_user_input`, which is offered in plan mode, and in every mode with `includeUserInputTool`. */
export const userInputTool: Tool = {
  ...functionTool({
    name: "request_user_input",
    description:
      "Asks the person you work for one to three short questions and waits for the answers. Ask what you cannot find out by looking and what changes what you do next. The result is JSON: the answers by the ids of the questions.",
    arguments: inputArguments,
    isOffered: ({ collaborationMode, includeUserInputTool }) =>
      includeUserInputTool === true || collaborationMode?.mode === "plan",
    run: ({ questions }, callId, { requestInput }) => {
      const fault = faultOf(questions.map(({ id }) => id))
      if (fault !== undefined) return Effect.succeed(refusedCall(fault))
      const asked = questions.map(({ options, ...question }) => ({
        ...question,
        is_other: true,
        is_secret: false,
        options: options ?? null,
      }))
      return Effect.map(requestInput({ callId, questions: asked }), (answer) => ({
        output: outputOf(answer),
      }))
    },
  }),
  asksPerson: true,
}
