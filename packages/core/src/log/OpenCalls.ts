/** The tool calls without an output in the unfinished turn of a log, as a fold of its records. */
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { isQuestion, questionId } from "../question/ApprovalEvents.ts"
import { isToolCall, isToolOutput } from "./History.ts"
import type { RecordOf, ReplayClass } from "../LogRecord.ts"
import type { ToolCall } from "../ToolRuntime.ts"

/** An attempt to run a call. */
interface Attempt {
  readonly replay: ReplayClass
  /** Counted from 1. */
  readonly attempt: number
  /** True: it has not run. It waits for the answer to the question whether it may, as an earlier one may have taken effect. */
  readonly waits?: boolean
}

/** A call without an output. */
export interface OpenCall {
  readonly call: ToolCall
  /** Id of the call in events. Absent when it is that of the provider. */
  readonly eventCallId?: string
  /** The last attempt. Absent when there was none. */
  readonly started?: Attempt
  /** True while that attempt has a pending question. */
  readonly asks: boolean
  /** True once that attempt emitted an event about an effect, or was approved. */
  readonly acted: boolean
  /** The last decision of a person, a rule or a deadline about that attempt. Absent while there is none. */
  readonly decided?: "approved" | "denied"
}

const actsOf = (msg: EventMsg): string | undefined => {
  switch (msg.type) {
    case "exec_command_begin":
    case "patch_apply_begin":
    case "mcp_tool_call_begin":
    case "tool_call_begin":
      return msg.call_id
    case "approval_resolved":
      return msg.decision.startsWith("approved") ? msg.call_id : undefined
    default:
      return undefined
  }
}

/** A question that was withdrawn is not decided. */
const decisionOf = ({ decision, reason }: EventOf<"approval_resolved">): OpenCall["decided"] => {
  if (reason === "withdrawn" || reason === "shutdown") return undefined
  return decision.startsWith("approved") ? "approved" : "denied"
}

/** Id of the call in events. */
export const eventCallIdOf = ({ call, eventCallId }: OpenCall): string =>
  eventCallId ?? call.call_id ?? ""

/** The fold. */
export class OpenCalls {
  private open: Array<OpenCall> = []

  /** Oldest first. */
  all(): ReadonlyArray<OpenCall> {
    return this.open
  }

  /** Forgets all calls: a turn starts or ends. */
  clear(): void {
    if (this.open.length > 0) this.open = []
  }

  /** Folds an event of the turn. */
  add(msg: EventMsg): void {
    if (msg.type === "raw_response_item") return this.addItem(msg.item)
    if (this.open.length === 0) return
    if (isQuestion(msg)) this.update(questionId(msg), { asks: true })
    else if (msg.type === "approval_resolved") {
      this.update(msg.call_id, { asks: false, ...defined({ decided: decisionOf(msg) }) })
    }
    const acts = actsOf(msg)
    if (acts !== undefined) this.update(acts, { acted: true })
  }

  private addItem(item: ResponseItem): void {
    if (isToolOutput(item)) {
      const place = this.open.findIndex(({ call }) => (call.call_id ?? "") === item.call_id)
      if (place !== -1) this.open.splice(place, 1)
    } else if (isToolCall(item)) {
      this.open.push({ call: item, asks: false, acted: false })
    }
  }

  /**
   * Folds an attempt, about which nothing is known yet: what is known of an earlier one counts no more. A first attempt is
   * that of the oldest call that has not started.
   */
  markStarted({ attempt, callId, eventCallId, replay, waits }: RecordOf<"ToolCall">): void {
    const place = this.open.findIndex(
      ({ started, call }) =>
        (call.call_id ?? "") === callId && (attempt > 1 || started === undefined),
    )
    const found = this.open[place]
    if (found === undefined) return
    const { decided: _, eventCallId: __, ...call } = found
    this.open[place] = {
      ...call,
      started: { replay, attempt, ...defined({ waits }) },
      asks: false,
      acted: false,
      ...defined({ eventCallId }),
    }
  }

  /** Changes the oldest call with this id. */
  private update(eventCallId: string, change: Partial<OpenCall>): void {
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

/** True for a call that can run again from its start without harm: it did nothing but ask its question. */
export const onlyAsks = ({ acted, asks, started }: OpenCall): boolean =>
  started === undefined || (asks && !acted)
