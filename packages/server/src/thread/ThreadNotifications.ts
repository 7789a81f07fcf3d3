/** The notifications of what happened in a thread. Pure. */
import type { Params } from "@colloquy/protocol/Method"
import * as Methods from "@colloquy/protocol/thread/Notifications"
import type { TokenUsage as CoreUsage } from "@colloquy/protocol/ResponseItem"
import type { TokenUsage } from "@colloquy/protocol/thread/Values"
import { type Notification, notificationOf } from "../app/subscriptions/SubscriptionPresenter.ts"
import { readState } from "./ReadState.ts"
import type { ReportedMsg, ThreadOutput } from "./ThreadFold.ts"
import type { ReportedUsage } from "./ThreadHistory.ts"

const countsOf = (usage: CoreUsage): TokenUsage["total"] => ({
  totalTokens: usage.total_tokens,
  inputTokens: usage.input_tokens,
  cachedInputTokens: usage.cached_input_tokens,
  // No provider of this program reports it.
  cacheWriteInputTokens: 0,
  outputTokens: usage.output_tokens,
  reasoningOutputTokens: usage.reasoning_output_tokens,
})

const stepStatus = {
  pending: "pending",
  in_progress: "inProgress",
  completed: "completed",
} as const

type OutputOf<T extends ThreadOutput["_tag"]> = Extract<ThreadOutput, { readonly _tag: T }>

/** What listeners want besides what all get. */
export interface ListenerWishes {
  /** What the model is sent and what it sends is notified as well. */
  readonly raw: boolean
  /** What becomes unread is notified: the thread is stored, so that somebody may read it later. */
  readonly unread: boolean
}

/** The notification of a usage; undefined if the event has none. */
export const usageParams = (
  threadId: string,
  { msg: { info }, turnId }: ReportedUsage,
): Params<typeof Methods.ThreadTokenUsageUpdated> | undefined =>
  info === null
    ? undefined
    : {
        threadId,
        turnId,
        tokenUsage: {
          total: countsOf(info.total_token_usage),
          last: countsOf(info.last_token_usage),
          modelContextWindow: info.model_context_window,
        },
      }

const ofMessage = (
  threadId: string,
  turnId: string,
  msg: ReportedMsg,
  { raw }: ListenerWishes,
): Notification | undefined => {
  const of = { threadId, turnId }
  switch (msg.type) {
    case "warning":
      return notificationOf(Methods.Warning, { threadId, message: msg.message })
    case "turn_diff":
      return notificationOf(Methods.TurnDiffUpdated, { ...of, diff: msg.unified_diff })
    case "plan_update":
      return notificationOf(Methods.TurnPlanUpdated, {
        ...of,
        explanation: msg.explanation,
        plan: msg.plan.map(({ status, step }) => ({ step, status: stepStatus[status] })),
      })
    case "token_count": {
      const usage = usageParams(threadId, { turnId, msg })
      return usage === undefined
        ? undefined
        : notificationOf(Methods.ThreadTokenUsageUpdated, usage)
    }
    case "raw_response_item":
      return raw
        ? notificationOf(Methods.RawResponseItemCompleted, { ...of, item: msg.item })
        : undefined
    case "queue_changed":
      return notificationOf(Methods.ThreadQueueChanged, { threadId })
    case "approval_resolved":
      return undefined
  }
}

const ofItem = (
  threadId: string,
  { _tag, item, turnId }: OutputOf<"ItemStarted" | "ItemCompleted">,
): Notification =>
  _tag === "ItemStarted"
    ? notificationOf(Methods.ItemStarted, {
        item,
        threadId,
        turnId,
        startedAtMs: item.startedAtMs ?? 0,
      })
    : notificationOf(Methods.ItemCompleted, {
        item,
        threadId,
        turnId,
        contentTokenCount: null,
        completedAtMs: item.completedAtMs ?? 0,
      })

const ofReasoning = (
  threadId: string,
  output: OutputOf<"PartAdded" | "SummaryDelta" | "ReasoningDelta">,
): Notification => {
  const { index, itemId, turnId } = output
  const of = { threadId, turnId, itemId }
  switch (output._tag) {
    case "PartAdded":
      return notificationOf(Methods.ReasoningSummaryPartAdded, { ...of, summaryIndex: index })
    case "SummaryDelta": {
      const { delta } = output
      return notificationOf(Methods.ReasoningSummaryTextDelta, {
        ...of,
        delta,
        summaryIndex: index,
      })
    }
    case "ReasoningDelta": {
      const { delta } = output
      return notificationOf(Methods.ReasoningTextDelta, { ...of, delta, contentIndex: index })
    }
  }
}

const ofUnread = (threadId: string, { reading }: OutputOf<"Unread">): Notification =>
  notificationOf(Methods.ThreadReadStateChanged, { threadId, readState: readState(reading) })

const ofProgress = (
  threadId: string,
  { _tag, ...progress }: OutputOf<"CallProgress">,
): Notification => notificationOf(Methods.McpToolCallProgress, { threadId, ...progress })

/** The notification of an output; undefined for one that is not notified. */
export const notificationOfOutput = (
  threadId: string,
  output: ThreadOutput,
  wishes: ListenerWishes,
): Notification | undefined => {
  switch (output._tag) {
    case "ItemStarted":
    case "ItemCompleted":
      return ofItem(threadId, output)
    case "MessageDelta":
      return notificationOf(Methods.AgentMessageDelta, piece(threadId, output))
    case "OutputDelta":
      return notificationOf(Methods.CommandOutputDelta, piece(threadId, output))
    case "CallProgress":
      return ofProgress(threadId, output)
    case "PartAdded":
    case "SummaryDelta":
    case "ReasoningDelta":
      return ofReasoning(threadId, output)
    case "TurnStarted":
      return notificationOf(Methods.TurnStarted, { threadId, turn: output.turn })
    case "TurnCompleted":
      return notificationOf(Methods.TurnCompleted, { threadId, turn: output.turn })
    case "Status":
      return notificationOf(Methods.ThreadStatusChanged, { threadId, status: output.status })
    case "Unread":
      return wishes.unread ? ofUnread(threadId, output) : undefined
    case "Reverted":
      return notificationOf(Methods.ThreadReverted, { threadId })
    case "Error": {
      const { error, turnId, willRetry } = output
      return notificationOf(Methods.ErrorNotification, { error, willRetry, threadId, turnId })
    }
    case "Message":
      return ofMessage(threadId, output.turnId, output.msg, wishes)
  }
}

const piece = (
  threadId: string,
  {
    delta,
    itemId,
    turnId,
  }: { readonly delta: string; readonly itemId: string; readonly turnId: string },
): Params<typeof Methods.AgentMessageDelta> => ({ threadId, turnId, itemId, delta })
