/**
 * The questions of conversations as the requests of this dialect: `execCommandApproval`, `applyPatchApproval` and
 * `elicitationRequest` (packages/docs/wire/app-server.md). Supplies `Present`; `QuestionBroker` does everything else.
 */
import {
  ApplyPatchApproval,
  ElicitationRequest,
  ExecCommandApproval,
} from "@colloquy/protocol/app/Approvals"
import { present as presentMembers } from "@colloquy/protocol/app/Fields"
import type { ApprovalForm } from "@colloquy/protocol/app/Initialize"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import { questionId } from "../../questions/Question.ts"
import { decisionOp, formOp } from "../../questions/QuestionAnswer.ts"
import type { Present } from "../../questions/QuestionBroker.ts"
import {
  execParams,
  formParams,
  patchParams,
  permissionsParams,
  toolParams,
} from "./QuestionParams.ts"

/**
 * Presents the questions of a conversation to this client. An answer that does not fit the method's result fails as
 * unusable in the peer, so every result that arrives can be read.
 *
 * @param form the spelling of the params that the client chose, read for each question
 */
export const presentV1 =
  (conversationId: string, peer: PeerControl, form: () => ApprovalForm): Present =>
  (question) => {
    const { msg, seq } = question
    const id = questionId(question)
    switch (msg.type) {
      case "exec_approval_request":
        return Effect.map(
          peer.request(ExecCommandApproval, execParams(conversationId, msg, form())),
          ({ decision }) => Result.succeed(decisionOp({ id, seq, type: msg.type }, decision)),
        )
      case "apply_patch_approval_request":
        return Effect.map(
          peer.request(ApplyPatchApproval, patchParams(conversationId, msg, form())),
          ({ decision }) => Result.succeed(decisionOp({ id, seq, type: msg.type }, decision)),
        )
      case "tool_approval_request":
        return Effect.map(
          peer.request(ExecCommandApproval, toolParams(conversationId, msg, form())),
          ({ decision }) => Result.succeed(decisionOp({ id, seq, type: msg.type }, decision)),
        )
      case "request_permissions":
        return Effect.map(
          peer.request(ExecCommandApproval, permissionsParams(conversationId, msg, form())),
          ({ decision }) => Result.succeed(decisionOp({ id, seq, type: msg.type }, decision)),
        )
      case "elicitation_request":
      case "request_user_input":
        return Effect.map(
          peer.request(ElicitationRequest, formParams(conversationId, msg)),
          (answer) => Result.succeed(formOp({ id, seq, type: msg.type }, presentMembers(answer))),
        )
    }
  }
