/**
 * The questions of the agent as a form, for clients that show only the forms of tool servers, and the answers of such a
 * form. Text of the model is quoted, and names of members and values of choices are unchanged, as in `FormText.ts`. Pure.
 */
import type { UserInputAnswers, UserInputQuestion } from "@colloquy/protocol/events/QuestionEvents"
import type { Elicitation } from "../approvals/Approval.ts"
import { formText } from "./FormText.ts"
import { attributed } from "./VisibleText.ts"

/** Who asks, where a client shows the name of a tool server. */
const agentName = "agent"

const memberOf = ({ header, is_other, options, question }: UserInputQuestion) => {
  const choices = options ?? []
  const described = choices.map(({ description, label }) =>
    description === "" ? label : `${label}: ${description}`,
  )
  return {
    type: "string",
    title: header,
    description: [question, ...described].join("\n"),
    // With `is_other` any text is an answer.
    ...(is_other || choices.length === 0 ? {} : { enum: choices.map(({ label }) => label) }),
  }
}

/** The form; its members have the ids of the questions. */
export const userInputForm = (questions: ReadonlyArray<UserInputQuestion>): Elicitation => ({
  server: agentName,
  message: questions.map(({ question }) => attributed("The agent asks", question)).join("\n"),
  requestedSchema: formText({
    type: "object",
    properties: Object.fromEntries(questions.map((one) => [one.id, memberOf(one)])),
    required: questions.map(({ id }) => id),
  }),
})

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "")

/** The answers that were filled in. */
export const answersOfForm = (content: Readonly<Record<string, unknown>>): UserInputAnswers =>
  Object.fromEntries(
    Object.entries(content).map(([id, value]) => [
      id,
      { answers: Array.isArray(value) ? value.map(textOf) : [textOf(value)] },
    ]),
  )
