/**
 * The tool calls of the turn that a log leaves open, as a fold of its records: what a restart has to do something about.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { isQuestion, questionId } from "../question/ApprovalEvents.ts"
import { isToolCall, isToolOutput } from "./History.ts"
import type { RecordOf, ReplayClass } from "../LogRecord.ts"
import type { ToolCall } from "../ToolRuntime.ts"

/** A call that has no output yet. */
export interface OpenCall {
  readonly call: ToolCall
  /** Its id in events, where that is not the provider's. */
  readonly eventCallId?: string
  /** Absent: nothing of it ever ran. */
  readonly started?: { readonly replay: ReplayClass; readonly attempt: number }
  /** True while all it did was to put a question that is still open: it can run again from its start. */
  readonly asks: boolean
  /** True once it told of having done something, or was allowed to. */
  readonly acted: boolean
}

const actsOf = (msg: EventMsg): string | undefined => {
  switch (msg.type) {
    case "exec_command_begin":
    case "patch_apply_begin":
    case "mcp_tool_call_begin":
      return msg.call_id
    case "approval_resolved":
      return msg.decision.startsWith("approved") ? msg.call_id : undefined
    default:
      return undefined
  }
}

/** The id of the call in events. */
export const eventCallIdOf = ({ call, eventCallId }: OpenCall): string =>
  eventCallId ?? call.call_id ?? ""

export class OpenCalls {
  private open: Array<OpenCall> = []

  /** Oldest first. */
  all(): ReadonlyArray<OpenCall> {
    return this.open
  }

  /** A turn begins or ends. */
  clear(): void {
    if (this.open.length > 0) this.open = []
  }

  /** An event of the turn. */
  add(msg: EventMsg): void {
    if (msg.type === "raw_response_item") return this.addItem(msg.item)
    if (this.open.length === 0) return
    if (isQuestion(msg)) this.see(questionId(msg), { asks: true })
    else if (msg.type === "approval_resolved") this.see(msg.call_id, { asks: false })
    const acts = actsOf(msg)
    if (acts !== undefined) this.see(acts, { acted: true })
  }

  private addItem(item: ResponseItem): void {
    if (isToolOutput(item)) {
      const place = this.open.findIndex(({ call }) => (call.call_id ?? "") === item.call_id)
      if (place !== -1) this.open.splice(place, 1)
    } else if (isToolCall(item)) {
      this.open.push({ call: item, asks: false, acted: false })
    }
  }

  /** The call is about to run, for the first time or again. A first attempt means the oldest that has not begun. */
  markStarted({ attempt, callId, eventCallId, replay }: RecordOf<"ToolCall">): void {
    const place = this.open.findIndex(
      ({ started, call }) =>
        (call.call_id ?? "") === callId && (attempt > 1 || started === undefined),
    )
    const named = eventCallId === undefined ? {} : { eventCallId }
    this.change(place, { started: { replay, attempt }, asks: false, ...named })
  }

  /** Of several calls with one id the oldest is meant. */
  private see(eventCallId: string, change: Partial<OpenCall>): void {
    this.change(
      this.open.findIndex((open) => eventCallIdOf(open) === eventCallId),
      change,
    )
  }

  private change(place: number, change: Partial<OpenCall>): void {
    const found = this.open[place]
    if (found !== undefined) this.open[place] = { ...found, ...change }
  }
}

/** True for one that runs again without harm: nothing of it ran but its question. */
export const onlyAsks = ({ acted, asks, started }: OpenCall): boolean =>
  started === undefined || (asks && !acted)
