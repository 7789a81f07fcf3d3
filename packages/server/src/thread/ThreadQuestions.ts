/**
 * The questions of threads as the requests of this dialect. Supplies `Present`; `QuestionBroker` does everything else. Every
 * subscriber is told with `serverRequest/resolved` once its request needs no answer any more.
 */
import { commandText } from "@colloquy/core/question/CommandText"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import type { CommandDecision } from "@colloquy/protocol/thread/Questions"
import {
  CommandApproval,
  FileChangeApproval,
  McpElicitation,
} from "@colloquy/protocol/thread/Questions"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PeerControl } from "../jsonrpc/Caller.ts"
import { type Question, questionId } from "../questions/Question.ts"
import { decisionOp, formOp } from "../questions/QuestionAnswer.ts"
import type { Present } from "../questions/QuestionBroker.ts"
import { commandAction } from "./items/CoreItems.ts"

/** The requests of this dialect that were sent on one connection, by thread and question. */
export class SentRequests {
  private readonly ids = new Map<string, RequestId>()
  private readonly own = new Set<RequestId>()

  /** The question was sent with this id. */
  add(threadId: string, question: string, id: RequestId): void {
    this.ids.set(`${threadId} ${question}`, id)
    this.own.add(id)
  }

  /** The id of the request for that question, which is forgotten. */
  take(threadId: string, question: string): RequestId | undefined {
    const key = `${threadId} ${question}`
    const id = this.ids.get(key)
    this.ids.delete(key)
    if (id !== undefined) this.own.delete(id)
    return id
  }

  /** Whether a request of this dialect has this id: `serverRequest/resolved` tells its end. */
  has(id: RequestId): boolean {
    return this.own.has(id)
  }
}

const decided = (decision: CommandDecision): ReviewDecision => {
  switch (decision) {
    case "accept":
      return "approved"
    case "acceptForSession":
      return "approved_for_session"
    case "decline":
      return "denied"
    case "cancel":
      return "abort"
    default:
      // An amendment of the rules: here it holds for this thread.
      return "approved_for_session"
  }
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

const commandParams = ({ command, cwd, parsed_cmd, reason }: EventOf<"exec_approval_request">) => ({
  environmentId: "local",
  ...(reason === undefined ? {} : { reason }),
  command: commandText(command),
  cwd,
  commandActions:
    parsed_cmd === undefined || parsed_cmd.length === 0
      ? [{ type: "unknown" as const, command: commandText(command) }]
      : parsed_cmd.map(commandAction(cwd)),
  availableDecisions: ["accept" as const, "acceptForSession" as const, "decline" as const, "cancel" as const],
})

/** Presents the questions of a thread to this client. */
export const presentThread =
  ({ callOf, peer, sent, threadId }: QuestionedThread): Present =>
  (question: Question) =>
    Effect.gen(function* () {
      const { id: turnId, msg, seq } = question
      const id = questionId(question)
      const ref = (type: typeof msg.type) => ({ id, seq, type })
      const call = callOf(id)
      const item = {
        threadId,
        turnId,
        itemId: call?.id ?? id,
        startedAtMs: call?.startedAtMs ?? (yield* Clock.currentTimeMillis),
      }
      const onSent = (request: RequestId) => sent.add(threadId, id, request)
      switch (msg.type) {
        case "exec_approval_request": {
          const params = { kind: "command" as const, ...item, ...commandParams(msg) }
          const { decision } = yield* peer.request(CommandApproval, params, onSent)
          return Result.succeed(decisionOp({ ...ref(msg.type), type: msg.type }, decided(decision)))
        }
        case "tool_approval_request": {
          const params = {
            kind: "command" as const,
            ...item,
            environmentId: null,
            ...(msg.reason === undefined ? {} : { reason: msg.reason }),
            command: `${msg.tool} ${JSON.stringify(msg.arguments)}`,
            availableDecisions: [
              "accept" as const,
              "acceptForSession" as const,
              "decline" as const,
              "cancel" as const,
            ],
          }
          const { decision } = yield* peer.request(CommandApproval, params, onSent)
          return Result.succeed(decisionOp({ ...ref(msg.type), type: msg.type }, decided(decision)))
        }
        case "apply_patch_approval_request": {
          const params = {
            ...item,
            reason: msg.reason ?? null,
            grantRoot: msg.grant_root ?? null,
          }
          const { decision } = yield* peer.request(FileChangeApproval, params, onSent)
          return Result.succeed(decisionOp({ ...ref(msg.type), type: msg.type }, decided(decision)))
        }
        case "elicitation_request": {
          const params = {
            threadId,
            turnId,
            serverName: msg.server_name,
            mode: "form" as const,
            _meta: null,
            message: msg.message,
            requestedSchema: msg.requested_schema,
          }
          const { action, content } = yield* peer.request(McpElicitation, params, onSent)
          const given =
            typeof content === "object" && content !== null
              ? { content: content as Readonly<Record<string, unknown>> }
              : {}
          return Result.succeed(
            formOp(ref(msg.type), { action, ...given } as Parameters<typeof formOp>[1]),
          )
        }
      }
    })
