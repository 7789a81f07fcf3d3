/**
 * From the events of a conversation to those of `exec`: a fold over the items of the core. Pure but for its own state. One
 * turn is followed; every item that it starts is completed before its last event.
 */
import type { Item } from "@colloquy/core/log/Item"
import { initialItems, isText, type ItemChange, step } from "@colloquy/core/log/Items"
import { commandText } from "@colloquy/core/question/CommandText"
import { type Event, type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import type { ExecEvent, ExecItem, ExecItemContent as Shown, ExecUsage } from "./ExecEvents.ts"
import { refused } from "./RefusedCalls.ts"

const noUsage: ExecUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
}

const usageOf = (total: TokenUsage): ExecUsage => ({
  input_tokens: total.input_tokens,
  cached_input_tokens: total.cached_input_tokens,
  cache_write_input_tokens: 0,
  output_tokens: total.output_tokens,
  reasoning_output_tokens: total.reasoning_output_tokens,
})

const statusOf = ({ status }: Item) =>
  status === "running" ? "in_progress" : status === "completed" ? status : "failed"

type CallResult = CoreItem<"mcp_tool_call">["result"]

/** The result and the error of a call; a tool that reports an error has a result. */
const outcomeOf = (result: CallResult) => {
  if (result === undefined) return { result: null, error: null }
  if ("Err" in result) return { result: null, error: { message: result.Err } }
  const {
    content,
    structuredContent,
    structured_content = structuredContent,
  } = result.Ok as {
    readonly content?: ReadonlyArray<unknown>
    readonly structuredContent?: unknown
    readonly structured_content?: unknown
  }
  return {
    result: { content: content ?? [], structured_content: structured_content ?? null },
    error: null,
  }
}

const isError = (result: CallResult): boolean =>
  result !== undefined &&
  "Ok" in result &&
  (result.Ok as { readonly isError?: unknown }).isError === true

type CoreItem<T extends Item["type"]> = Extract<Item, { readonly type: T }>

const fileChange = (item: CoreItem<"file_change">): Shown => ({
  type: "file_change",
  changes: Object.entries(item.changes).map(([path, change]) => ({
    path,
    kind: "add" in change ? "add" : "delete" in change ? "delete" : "update",
  })),
  status: statusOf(item),
})

const mcpToolCall = (item: CoreItem<"mcp_tool_call">): Shown => ({
  type: "mcp_tool_call",
  server: item.server,
  tool: item.tool,
  arguments: item.arguments ?? {},
  ...outcomeOf(item.result),
  status: isError(item.result) ? "failed" : statusOf(item),
})

/** An item as its client gets it; undefined for one that `exec` does not report. */
const shown = (item: Item): Shown | undefined => {
  switch (item.type) {
    case "agent_message":
    case "reasoning":
      return { type: item.type, text: item.text }
    case "command":
      return {
        type: "command_execution",
        command: commandText(item.command),
        aggregated_output: item.output ?? "",
        exit_code: item.exitCode ?? null,
        status: statusOf(item),
      }
    case "file_change":
      return fileChange(item)
    case "mcp_tool_call":
      return mcpToolCall(item)
    case "web_search":
      return { type: "web_search", query: item.query ?? "" }
    case "plan":
      return {
        type: "todo_list",
        items: item.steps.map(({ status, step: text }) => ({
          text,
          completed: status === "completed",
        })),
      }
    case "warning":
      return { type: "error", message: item.message }
    default:
      return undefined
  }
}

/** True for what is reported once, when it is complete. */
const isReportedOnce = (item: Item): boolean => isText(item) || item.type === "warning"

/** Follows one turn. */
export class ExecFold {
  private readonly turnId: string
  private readonly cwd: string
  private items = initialItems
  private count = 0
  /** Ids on the wire, by the ids of the core. */
  private readonly ids = new Map<string, string>()
  /** Output of running commands, by the ids of the core: what is left of one that does not end by itself. */
  private readonly outputs = new Map<
    string,
    { text: string; readonly decoder: InstanceType<typeof TextDecoder> }
  >()
  /** The plan as it was reported last. */
  private plan: ExecItem | undefined
  private usage: ExecUsage
  /** An error that was not reported yet: the event after it says whether the turn failed with it. */
  private failure: string | undefined
  /** The last message of the agent. */
  lastMessage: string | undefined

  /** @param cwd the working directory of the turn, to which the paths of a patch are relative */
  constructor(turnId: string, cwd: string, total?: TokenUsage) {
    this.turnId = turnId
    this.cwd = cwd
    this.usage = total === undefined ? noUsage : usageOf(total)
  }

  /** What the event is to a client of `exec`. */
  add(event: Event): ReadonlyArray<ExecEvent> {
    const { id, msg } = event
    if (id !== this.turnId && msg.type !== "warning") return []
    const next = step(this.items, event)
    this.items = next.state
    const before = isTerminal(msg) ? [] : this.survived()
    const changes = next.changes.flatMap((change) => this.changed(change))
    return [...before, ...changes, ...this.ofTurn(msg)]
  }

  /**
   * What is reported where nothing more of the turn arrives: everything that has begun is completed, with the text and the
   * output that came, and the turn has failed with `reason`.
   */
  cut(reason: string): ReadonlyArray<ExecEvent> {
    const { calls, texts } = this.items
    const open: ReadonlyArray<Item> = [...texts.map(({ item }) => item), ...calls]
    this.items = { ...this.items, calls: [], texts: [] }
    const before = open.flatMap((item) =>
      this.changed({ _tag: "Completed", item: { ...item, status: "interrupted" } }),
    )
    const earlier: ReadonlyArray<ExecEvent> =
      this.failure === undefined ? [] : [{ type: "error", message: this.failure }]
    this.failure = reason
    return [...before, ...earlier, ...this.failed(reason)]
  }

  /** An error that the turn goes on after is a warning, such as that of a tool server that does not start. */
  private survived(): ReadonlyArray<ExecEvent> {
    const { failure } = this
    if (failure === undefined) return []
    this.failure = undefined
    return [this.once({ type: "error", message: failure })]
  }

  /** An item of its own, which is complete. */
  private once(content: Shown): ExecEvent {
    return { type: "item.completed", item: { id: `item_${this.count++}`, ...content } }
  }

  private changed(change: ItemChange): ReadonlyArray<ExecEvent> {
    if (change._tag === "Delta") this.keepOutput(change)
    if (change._tag !== "Started" && change._tag !== "Completed") return []
    if (change.item.type === "tool_call") {
      const items = change._tag === "Completed" ? refused(change.item, this.cwd) : []
      return items.map((content) => this.once(content))
    }
    const item = this.withOutput(change.item)
    const content = shown(item)
    if (content === undefined) return []
    if (content.type === "todo_list") {
      return change._tag === "Completed" ? [this.planned(content)] : []
    }
    if (isReportedOnce(item)) {
      if (change._tag === "Started") return []
      if (content.type === "agent_message") this.lastMessage = content.text
    }
    const type = change._tag === "Started" ? "item.started" : "item.completed"
    return [{ type, item: { id: this.idOf(item.id), ...content } }]
  }

  private keepOutput({ delta, id }: Extract<ItemChange, { readonly _tag: "Delta" }>): void {
    const output = this.outputs.get(id)
    if (output === undefined) return
    output.text += output.decoder.decode(Buffer.from(delta, "base64"), { stream: true })
  }

  private withOutput(item: Item): Item {
    if (item.type !== "command") return item
    const output = this.outputs.get(item.id)
    if (item.status === "running") {
      this.outputs.set(item.id, { text: "", decoder: new TextDecoder() })
      return item
    }
    this.outputs.delete(item.id)
    return item.output === undefined && output !== undefined
      ? { ...item, output: output.text }
      : item
  }

  /** The first plan of a turn starts an item, which later ones change. */
  private planned(content: Extract<Shown, { readonly type: "todo_list" }>): ExecEvent {
    const type = this.plan === undefined ? "item.started" : "item.updated"
    this.plan = { id: this.idOf("plan"), ...content }
    return { type, item: this.plan }
  }

  private ofTurn(msg: EventMsg): ReadonlyArray<ExecEvent> {
    switch (msg.type) {
      case "task_started":
        return [{ type: "turn.started" }]
      case "token_count":
        if (msg.info !== null) this.usage = usageOf(msg.info.total_token_usage)
        return []
      case "stream_error":
        return [{ type: "error", message: msg.message }]
      case "error":
        // Only its end follows the error of a turn that failed.
        this.failure = msg.message
        return []
      default:
        return isTerminal(msg) ? this.ended(msg) : []
    }
  }

  private ended(msg: EventMsg): ReadonlyArray<ExecEvent> {
    const message = msg.type === "turn_aborted" ? `the turn was ${msg.reason}` : this.failure
    return message === undefined
      ? [...this.completedPlan(), { type: "turn.completed", usage: this.usage }]
      : this.failed(message)
  }

  /** The last events of a turn that failed: the error that was not reported yet, the plan, and the reason. */
  private failed(message: string): ReadonlyArray<ExecEvent> {
    const { failure } = this
    const error: ReadonlyArray<ExecEvent> =
      failure === undefined ? [] : [{ type: "error", message: failure }]
    return [...error, ...this.completedPlan(), { type: "turn.failed", error: { message } }]
  }

  private completedPlan(): ReadonlyArray<ExecEvent> {
    return this.plan === undefined ? [] : [{ type: "item.completed", item: this.plan }]
  }

  private idOf(id: string): string {
    const known = this.ids.get(id)
    if (known !== undefined) return known
    const made = `item_${this.count++}`
    this.ids.set(id, made)
    return made
  }
}
