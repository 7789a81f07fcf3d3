/**
 * Limits of the forms of tool servers, of what is filled in, and of what tools of clients return. Pure.
 */
import type { ToolOutputPart } from "@colloquy/protocol/ResponseItem"
import { isImageData } from "@colloquy/protocol/text/ImageUrl"
import type { Elicitation } from "../approvals/Approval.ts"
import { isForm, type Outcome, type QuestionRequest } from "../approvals/Elicitation.ts"
import { isNone } from "../approvals/Permissions.ts"
import { canBeShown } from "./FormText.ts"
import { userInputForm } from "./UserInputForm.ts"

/** Longest JSON of each part of a form and of an answer, in UTF-16 code units. */
const maxChars = 64 * 1024

/** Most levels of nested arrays and objects. Forms of the MCP specification have at most 6. */
const maxLevels = 8

const isShallow = (value: unknown, levels = maxLevels): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1)))

/** False for a longer value, and for one that JSON cannot represent. */
const fits = (value: unknown): boolean => {
  try {
    return JSON.stringify(value).length <= maxChars
  } catch {
    return false
  }
}

const isTooLong = (what: string) => `${what} is longer than ${maxChars} characters of JSON`

/**
 * Why a form is declined without a question, with the limit that it exceeds; undefined for one that can be shown.
 * Nothing is removed from a form to make it fit: a person must not accept members that were not displayed.
 */
export const formFault = (form: Elicitation): string | undefined => {
  if (!fits(form.server)) return isTooLong("the name of its server")
  if (!fits(form.message)) return isTooLong("its message")
  if (!isShallow(form.requestedSchema)) return `its schema has more than ${maxLevels} levels`
  if (!fits(form.requestedSchema)) return isTooLong("its schema")
  return canBeShown(form.requestedSchema) ? undefined : "the name of a member is not visible"
}

/** False for a form, or a request for permissions, that is declined without a question. */
export const canBePut = (request: QuestionRequest): boolean => {
  if (request._tag === "Permissions") {
    return fits(request.permissions) && !isNone(request.permissions)
  }
  if (!isForm(request)) return true
  if (request._tag === "Elicitation") return formFault(request) === undefined
  const { questions } = request
  return fits(questions) && formFault(userInputForm(questions)) === undefined
}

/** The model is sent no other images: this program fetches none, and a provider need not reach them. */
const isDataUrl = (part: ToolOutputPart): boolean =>
  part.type !== "input_image" || isImageData(part.image_url)

/** False for an answer that counts as unreadable. */
export const canBeRead = ({
  content,
  result,
}: {
  readonly content: Outcome["content"] | undefined
  readonly result: Outcome["result"] | undefined
}): boolean =>
  (content === undefined || fits(content)) && (result?.content.every(isDataUrl) ?? true)
