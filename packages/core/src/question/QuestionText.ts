/**
 * The words of a question: composed once, where the event of the question is made, so that every wire, the log and an
 * embedding application show the same. Words of a model, a tool or a tool server are always quoted and attributed.
 * Pure. Keeps L7: what a person reads is what will happen, and no foreign text can pass for a statement of this server.
 */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ApprovalRequest, ExecApproval, PatchApproval } from "../approvals/Approval.ts"
import { effectOf, type QuestionSettings, sessionScopeOf } from "./ApprovalEffect.ts"
import { commandRows, commandText, isInline, pathText } from "./CommandText.ts"
import * as LookAlikes from "./LookAlikes.ts"
import { pathsOf, patchFiles } from "./PatchFiles.ts"
import { attributed, isVisible, quoted, spelledOut } from "./VisibleText.ts"

const execLines = (request: ExecApproval): ReadonlyArray<string> => [
  ...LookAlikes.inTexts(request.command),
  ...LookAlikes.inTexts([request.cwd]),
  ...LookAlikes.inOrder([...request.command, request.cwd]),
  ...(request.namedCwd === undefined
    ? []
    : [
        attributed(
          "That directory is where symbolic links lead from the one that the call named",
          request.namedCwd,
        ),
      ]),
]

const patchLines = (request: PatchApproval, cwd: string): ReadonlyArray<string> => [
  patchFiles(request, cwd),
  ...LookAlikes.inTexts(pathsOf(request)),
  ...new Set(pathsOf(request).flatMap((path) => LookAlikes.inOrder([path]))),
  ...(request.grantRoot === undefined
    ? []
    : [attributed("It asks for leave to change files below", request.grantRoot)]),
]

/** Rows of the command, for one that the question's first sentence cannot contain. */
const rowsBelow = ({ command, cwd }: Pick<ExecApproval, "command" | "cwd">): string | undefined =>
  isInline(command, cwd) ? undefined : `The command:\n${commandRows(command)}`

const given = (whose: string, text: string | undefined): ReadonlyArray<string> =>
  text === undefined || text === "" ? [] : [attributed(whose, text)]

/** `reason` of the question's event: everything a person should know beside the command or the changes themselves. */
export const reasonText = (request: ApprovalRequest, settings: QuestionSettings): string => {
  const { justification, reason } = request
  const rows = request._tag === "Exec" ? rowsBelow(request) : undefined
  return [
    effectOf(request, settings),
    sessionScopeOf(request),
    ...(request._tag === "Exec" ? execLines(request) : patchLines(request, settings.cwd)),
    ...given("It is asked because", reason),
    ...given("The model gives this reason", justification),
    ...(rows === undefined ? [] : [rows]),
  ].join("\n")
}

/** A name in a sentence. */
const nameText = (name: string): string =>
  isVisible(name) && name.length <= 240 && !name.includes("`") ? `\`${name}\`` : quoted(name, 4)

/** `message` of the event by which a tool server asks. */
export const formMessage = (server: string, message: string): string =>
  [
    attributed(`Tool server ${nameText(server)} asks`, message),
    "The tool server also wrote what the form says, in quotation marks.",
  ].join("\n")

/** Of a text that this module composed; one that it did not, in a log of another program, is cut here. */
const maxReasonChars = 32 * 1024

/**
 * `reason` and `message` of an event as they are shown. Text composed above comes back unchanged; in an event that was
 * read from a log of another origin, hidden characters are spelled out.
 */
export const shownReason = (text: string): string =>
  text.slice(0, maxReasonChars).split("\n").map(spelledOut).join("\n")

type ApprovalMsg = EventOf<"exec_approval_request" | "apply_patch_approval_request">

const firstLine = (msg: ApprovalMsg): string => {
  if (msg.type === "apply_patch_approval_request") {
    return "Allow Codex to apply proposed code changes?"
  }
  return isInline(msg.command, msg.cwd)
    ? `Allow Codex to run \`${commandText(msg.command)}\` in \`${pathText(msg.cwd)}\`?`
    : `Allow Codex to run the command below in ${nameText(msg.cwd)}?`
}

/** The whole question as a person reads it, its first line in the words of the original. */
export const questionText = (msg: ApprovalMsg): string => {
  const reason = msg.reason === undefined ? undefined : shownReason(msg.reason)
  const rows = msg.type === "exec_approval_request" ? rowsBelow(msg) : undefined
  const isComplete = rows === undefined || reason?.endsWith(rows) === true
  return [firstLine(msg), ...(reason === undefined ? [] : [reason]), ...(isComplete ? [] : [rows])]
    .filter((line) => line !== undefined)
    .join("\n")
}
