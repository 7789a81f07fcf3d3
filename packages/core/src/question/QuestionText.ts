/**
 * The text of a question. It is composed once, when the event of the question is made, so that every dialect, the log and an
 * embedding application show the same text. Text of a model, a tool or a tool server is always quoted and attributed.
 * Pure. Keeps L7: the text says what will happen, and foreign text cannot look like a statement of the server.
 */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type {
  ApprovalRequest,
  ExecApproval,
  PatchApproval,
  PermissionsApproval,
  ToolApproval,
} from "../approvals/Approval.ts"
import { effectOf, type QuestionSettings, sessionScopeOf } from "./ApprovalEffect.ts"
import { commandRows, commandText, isInline, pathText, textRows } from "./CommandText.ts"
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
    : [attributed("It asks for permission to change files below", request.grantRoot)]),
]

/** The arguments as the rows of a text, since a person decides about them. */
const toolLines = ({ arguments: args, server = "", tool }: ToolApproval) => {
  const text = JSON.stringify(args) ?? "null"
  return [...LookAlikes.inTexts([tool, server, text]), `The arguments:\n${textRows(text)}`]
}

const permissionLines = ({
  permissions: { read = [], write = [] },
}: PermissionsApproval): ReadonlyArray<string> => [
  ...LookAlikes.inTexts([...write, ...read]),
  ...new Set([...write, ...read].flatMap((path) => LookAlikes.inOrder([path]))),
]

const linesOf = (request: ApprovalRequest, settings: QuestionSettings): ReadonlyArray<string> => {
  switch (request._tag) {
    case "Exec":
      return execLines(request)
    case "Patch":
      return patchLines(request, settings.cwd)
    case "Tool":
      return toolLines(request)
    case "Permissions":
      return permissionLines(request)
  }
}

/** The command in rows, if the first sentence of the question cannot contain it. */
const rowsBelow = ({ command, cwd }: Pick<ExecApproval, "command" | "cwd">): string | undefined =>
  isInline(command, cwd) ? undefined : `The command:\n${commandRows(command)}`

const attributedIf = (source: string, text: string | undefined): ReadonlyArray<string> =>
  text === undefined || text === "" ? [] : [attributed(source, text)]

/** `reason` of the event of the question: what a person should know beside the command or the changes. */
export const reasonText = (request: ApprovalRequest, settings: QuestionSettings): string => {
  const { reason } = request
  const justification = request._tag === "Tool" ? undefined : request.justification
  const rows = request._tag === "Exec" ? rowsBelow(request) : undefined
  return [
    effectOf(request, settings),
    sessionScopeOf(request),
    ...linesOf(request, settings),
    ...attributedIf("It is asked because", reason),
    ...attributedIf("The model gives this reason", justification),
    ...(rows === undefined ? [] : [rows]),
  ].join("\n")
}

/** A name as part of a sentence. */
const nameText = (name: string): string =>
  isVisible(name) && name.length <= 240 && !name.includes("`") ? `\`${name}\`` : quoted(name, 4)

/** `message` of the event with the question of a tool server. */
export const formMessage = (server: string, message: string): string =>
  [
    attributed(`Tool server ${nameText(server)} asks`, message),
    "The tool server also wrote what the form says, in quotation marks.",
  ].join("\n")

/** Longest reason, in UTF-16 code units. Those of this module are shorter; one in a log of another program is cut. */
const maxReasonChars = 32 * 1024

/**
 * `reason` or `message` of an event as it is shown. Text of this module is unchanged; hidden characters in an event from a
 * log of another program are escaped.
 */
export const shownReason = (text: string): string =>
  text.slice(0, maxReasonChars).split("\n").map(spelledOut).join("\n")

type ApprovalMsg = EventOf<
  | "exec_approval_request"
  | "apply_patch_approval_request"
  | "tool_approval_request"
  | "request_permissions"
>

const firstLine = (msg: ApprovalMsg, agent: string): string => {
  if (msg.type === "apply_patch_approval_request") {
    return `Allow ${agent} to apply proposed code changes?`
  }
  if (msg.type === "tool_approval_request") {
    const of = msg.server === undefined ? "" : ` of tool server ${nameText(msg.server)}`
    return `Allow ${agent} to call ${nameText(msg.tool)}${of}?`
  }
  if (msg.type === "request_permissions") return `Allow ${agent} further permissions?`
  return isInline(msg.command, msg.cwd)
    ? `Allow ${agent} to run \`${commandText(msg.command)}\` in \`${pathText(msg.cwd)}\`?`
    : `Allow ${agent} to run the command below in ${nameText(msg.cwd)}?`
}

/**
 * The whole question for a person.
 *
 * @param agent the program that asks; default: as the original program names itself, whose words clients may know
 */
export const questionText = (msg: ApprovalMsg, agent = "Codex"): string => {
  const reason = msg.reason === undefined ? undefined : shownReason(msg.reason)
  const rows = msg.type === "exec_approval_request" ? rowsBelow(msg) : undefined
  const isComplete = rows === undefined || reason?.endsWith(rows) === true
  return [
    firstLine(msg, agent),
    ...(reason === undefined ? [] : [reason]),
    ...(isComplete ? [] : [rows]),
  ]
    .filter((line) => line !== undefined)
    .join("\n")
}
