/**
 * The questions of threads as the requests of this dialect. Supplies `Present`; `QuestionBroker` does everything else. Every
 * subscriber gets `serverRequest/resolved` once its request needs no answer any more.
 */
import { commandText } from "@colloquy/core/question/CommandText"
import { questionText } from "@colloquy/core/question/QuestionText"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import type { ResultOf } from "@colloquy/protocol/Method"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import type { CommandDecision } from "@colloquy/protocol/thread/Questions"
import {
  CommandApproval,
  FileChangeApproval,
  McpElicitation,
  PermissionsApproval,
  RequestUserInput,
} from "@colloquy/protocol/thread/Questions"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PeerControl } from "../jsonrpc/Caller.ts"
import { type Question, questionId } from "../questions/Question.ts"
import { decisionOp, formOp, inputOp, permissionsOp } from "../questions/QuestionAnswer.ts"
import type { Present } from "../questions/QuestionBroker.ts"
import { commandAction } from "./items/CoreItems.ts"
import { askedPermissions, grantedPermissions } from "./questions/ThreadPermissions.ts"

interface SentRequest {
  readonly threadId: string
  readonly question: string
}

/**
 * The requests of this dialect that were sent on one connection, by thread and question. A question is sent again if its answer
 * could not be recorded.
 */
export class SentRequests {
  private readonly ids = new Map<string, ReadonlyArray<RequestId>>()
  private readonly own = new Map<RequestId, SentRequest>()

  /** The question was sent with this id. */
  add(threadId: string, question: string, id: RequestId): void {
    const key = `${threadId} ${question}`
    this.ids.set(key, [...(this.ids.get(key) ?? []), id])
    this.own.set(id, { threadId, question })
  }

  /** The ids of the requests for that question, which are forgotten. */
  take(threadId: string, question: string): ReadonlyArray<RequestId> {
    const key = `${threadId} ${question}`
    const ids = this.ids.get(key) ?? []
    this.ids.delete(key)
    for (const id of ids) this.own.delete(id)
    return ids
  }

  /** The thread of the request with this id, which is forgotten; undefined for a request of another dialect. */
  withdraw(id: RequestId): string | undefined {
    const sent = this.own.get(id)
    if (sent === undefined) return undefined
    const { question, threadId } = sent
    const key = `${threadId} ${question}`
    this.own.delete(id)
    this.ids.set(
      key,
      (this.ids.get(key) ?? []).filter((other) => other !== id),
    )
    if (this.ids.get(key)?.length === 0) this.ids.delete(key)
    return threadId
  }
}

const decisions = {
  accept: "approved",
  acceptForSession: "approved_for_session",
  decline: "denied",
  cancel: "abort",
} as const

/** Only an answer that accepts the command approves it: a rule for the network, which is never asked about, is a refusal. */
const decided = (decision: CommandDecision): Result.Result<ReviewDecision, string> => {
  if (typeof decision === "string") return Result.succeed(decisions[decision])
  return "acceptWithExecpolicyAmendment" in decision
    ? // The rule holds for this command in this thread.
      Result.succeed("approved_for_session")
    : Result.fail("expected a decision about the command; got a rule for the network")
}

/** What the requests need to know of a thread. */
export interface QuestionedThread {
  readonly threadId: string
  readonly peer: PeerControl
  readonly sent: SentRequests
  /** Id and start of the item of a call. */
  readonly callOf: (
    callId: string,
  ) => { readonly id: string; readonly startedAtMs: number } | undefined
}

const availableDecisions = ["accept", "acceptForSession", "decline", "cancel"] as const

const reasonOf = ({ reason }: { readonly reason?: string }) =>
  reason === undefined ? {} : { reason }

const commandParams = (msg: EventOf<"exec_approval_request">) => {
  const { command, cwd, parsed_cmd: parsed = [] } = msg
  return {
    ...reasonOf(msg),
    command: commandText(command),
    cwd,
    commandActions:
      parsed.length === 0
        ? [{ type: "unknown" as const, command: commandText(command) }]
        : parsed.map(commandAction(cwd)),
  }
}

const toolParams = (msg: EventOf<"tool_approval_request">) => ({
  ...reasonOf(msg),
  command: `${msg.tool} ${JSON.stringify(msg.arguments)}`,
})

/** One question, as it is put to the client. */
interface Asking extends QuestionedThread {
  readonly question: Question
  /** Where the client shows it. */
  readonly item: {
    readonly threadId: string
    readonly turnId: string
    readonly itemId: string
    readonly startedAtMs: number
  }
  readonly onSent: (request: RequestId) => void
}

const refOf = ({ question }: Asking) => ({ id: questionId(question), seq: question.seq })

const askCommand = (
  asking: Asking,
  type: "exec_approval_request" | "tool_approval_request",
  params: object,
) =>
  Effect.map(
    asking.peer.request(
      CommandApproval,
      { kind: "command", ...asking.item, environmentId: "local", availableDecisions, ...params },
      asking.onSent,
    ),
    ({ decision }) =>
      Result.map(decided(decision), (review) => decisionOp({ ...refOf(asking), type }, review)),
  )

/** A call of a tool of a tool server, which the original asks about with a form without members. */
const askToolServer = (asking: Asking, server: string, msg: EventOf<"tool_approval_request">) => {
  const { threadId, turnId } = asking.item
  const { annotations = null, arguments: args, tool } = msg
  const params = {
    threadId,
    turnId,
    serverName: server,
    mode: "form" as const,
    _meta: {
      codex_approval_kind: "mcp_tool_call",
      persist: ["session"],
      tool_name: tool,
      tool_annotations: annotations,
      tool_params: args,
      tool_params_display: shownArguments(args),
    },
    message: questionText(msg),
    requestedSchema: { type: "object", properties: {} },
  }
  return Effect.map(asking.peer.request(McpElicitation, params, asking.onSent), (answer) =>
    Result.succeed(
      decisionOp({ ...refOf(asking), type: "tool_approval_request" }, toolDecision(answer)),
    ),
  )
}

/** The members of the arguments, for clients that show them one by one. */
const shownArguments = (args: unknown) =>
  typeof args === "object" && args !== null
    ? Object.entries(args).map(([name, value]) => ({ name, value, display_name: name }))
    : []

/** Neither `decline` nor `cancel` ends the turn, as with any form of a tool server. */
const toolDecision = ({ _meta, action }: ResultOf<typeof McpElicitation>): ReviewDecision => {
  if (action !== "accept") return "denied"
  const persist = typeof _meta === "object" && _meta !== null && "persist" in _meta && _meta.persist
  return persist === "session" || persist === "always" ? "approved_for_session" : "approved"
}

const askPatch = (
  asking: Asking,
  { grant_root, reason }: EventOf<"apply_patch_approval_request">,
) =>
  Effect.map(
    asking.peer.request(
      FileChangeApproval,
      { ...asking.item, reason: reason ?? null, grantRoot: grant_root ?? null },
      asking.onSent,
    ),
    ({ decision }) =>
      Result.succeed(
        decisionOp({ ...refOf(asking), type: "apply_patch_approval_request" }, decisions[decision]),
      ),
  )

const askForm = (asking: Asking, msg: EventOf<"elicitation_request">) => {
  const { threadId, turnId } = asking.item
  const params = {
    threadId,
    turnId,
    serverName: msg.server_name,
    mode: "form" as const,
    _meta: null,
    message: msg.message,
    requestedSchema: msg.requested_schema,
  }
  return Effect.map(
    asking.peer.request(McpElicitation, params, asking.onSent),
    ({ action, content }) => {
      const given =
        typeof content === "object" && content !== null
          ? { content: content as Readonly<Record<string, unknown>> }
          : {}
      return Result.succeed(formOp({ ...refOf(asking), type: msg.type }, { action, ...given }))
    },
  )
}

const askInput = (asking: Asking, msg: EventOf<"request_user_input">) => {
  const { threadId, turnId } = asking.item
  const questions = msg.questions.map(({ is_other, is_secret, ...question }) => ({
    ...question,
    isOther: is_other,
    isSecret: is_secret,
  }))
  return Effect.map(
    asking.peer.request(
      RequestUserInput,
      {
        threadId,
        turnId,
        itemId: msg.call_id,
        questions,
        isBlocking: true,
        autoResolutionMs: null,
      },
      asking.onSent,
    ),
    (answer) => Result.succeed(inputOp(refOf(asking), answer)),
  )
}

const askPermissions = (asking: Asking, msg: EventOf<"request_permissions">) =>
  Effect.map(
    asking.peer.request(
      PermissionsApproval,
      {
        ...asking.item,
        environmentId: "local",
        cwd: msg.cwd,
        reason: msg.justification ?? null,
        permissions: askedPermissions(msg.permissions),
      },
      asking.onSent,
    ),
    ({ permissions, scope }) => {
      const decision = scope === "session" ? "approved_for_session" : "approved"
      return Result.succeed(permissionsOp(refOf(asking), decision, grantedPermissions(permissions)))
    },
  )

/** Presents the questions of a thread to this client. */
export const presentThread =
  (thread: QuestionedThread): Present =>
  (question: Question) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { callOf, sent, threadId } = thread
      const { id: turnId, msg } = question
      const id = questionId(question)
      const { id: itemId, startedAtMs } = callOf(id) ?? { id, startedAtMs: now }
      const asking: Asking = {
        ...thread,
        question,
        item: { threadId, turnId, itemId, startedAtMs },
        onSent: (request) => sent.add(threadId, id, request),
      }
      switch (msg.type) {
        case "exec_approval_request":
          return askCommand(asking, msg.type, commandParams(msg))
        case "tool_approval_request":
          return msg.server === undefined
            ? askCommand(asking, msg.type, toolParams(msg))
            : askToolServer(asking, msg.server, msg)
        case "apply_patch_approval_request":
          return askPatch(asking, msg)
        case "elicitation_request":
          return askForm(asking, msg)
        case "request_user_input":
          return askInput(asking, msg)
        case "request_permissions":
          return askPermissions(asking, msg)
      }
    })
