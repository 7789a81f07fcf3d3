/**
 * What the provider of a recording of app-server v2 must have sent: its responses, read off the items and notifications that
 * they caused. A response ends with the usage that it reports.
 */
import * as Script from "@colloquy/testing/ProviderScript"
import type { Entry } from "./Recording.ts"
import { at } from "./ThreadNames.ts"

interface Response {
  readonly steps: Array<Script.ProviderStep>
  usage: Script.ProviderUsage | null
  end: Script.ProviderStep | undefined
}

const callTypes = new Set([
  "commandExecution",
  "fileChange",
  "mcpToolCall",
  "dynamicToolCall",
  "imageView",
])

/** The call of the plan, whose notification names no call. */
export const planCall = (count: number): string => `plan_${count}`

const usageOf = (last: unknown): Script.ProviderUsage => {
  const count = (name: string) => Number(at(last, name))
  return {
    input: count("inputTokens"),
    cached: count("cachedInputTokens"),
    output: count("outputTokens"),
    reasoning: count("reasoningOutputTokens"),
    total: count("totalTokens"),
  }
}

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.map(String) : []

/** A reasoning item with its summary and its raw content. */
const reasoning = (item: unknown): ReadonlyArray<Script.ProviderStep> => {
  const content = strings(at(item, "content"))
  const summary = strings(at(item, "summary"))
  return [
    ...summary.flatMap((text, summary_index) => [
      Script.event({ type: "response.reasoning_summary_part.added", summary_index }),
      Script.event({ type: "response.reasoning_summary_text.delta", delta: text, summary_index }),
    ]),
    ...content.map((delta, content_index) =>
      Script.event({ type: "response.reasoning_text.delta", delta, content_index }),
    ),
    Script.event({
      type: "response.output_item.done",
      item: {
        type: "reasoning",
        id: String(at(item, "id")),
        summary: summary.map((text) => ({ type: "summary_text", text })),
        ...(content.length === 0
          ? {}
          : { content: content.map((text) => ({ type: "reasoning_text", text })) }),
        encrypted_content: "sealed",
      },
    }),
  ]
}

/** The responses of one process, in the order in which they began. */
class Reader {
  readonly responses: Array<Response> = []
  private readonly open = new Map<string, Response>()
  private readonly deltas = new Map<string, Array<string>>()
  private readonly calls = new Set<string>()
  private plans = 0

  private of(turnId: string): Response {
    const known = this.open.get(turnId)
    if (known !== undefined) return known
    const response: Response = { steps: [], usage: null, end: undefined }
    this.open.set(turnId, response)
    this.responses.push(response)
    return response
  }

  private started(turnId: string, item: unknown): void {
    const [id, type] = [String(at(item, "id")), String(at(item, "type"))]
    if (type === "agentMessage") this.deltas.set(id, [])
    if (!callTypes.has(type) || at(item, "source") === "userShell" || this.calls.has(id)) return
    this.calls.add(id)
    this.of(turnId).steps.push(Script.toolCall("shell", {}, id))
  }

  private completed(turnId: string, item: unknown): void {
    const [id, type] = [String(at(item, "id")), String(at(item, "type"))]
    if (type === "reasoning") this.of(turnId).steps.push(...reasoning(item))
    if (type === "agentMessage" && this.deltas.has(id)) {
      const pieces = this.deltas.get(id) ?? []
      const text = String(at(item, "text"))
      this.deltas.delete(id)
      this.of(turnId).steps.push(
        pieces.join("") === text ? Script.deltas(...pieces) : Script.text(text),
      )
    }
  }

  /** The turn has ended. What is begun is broken off. */
  private ended(turnId: string): void {
    const response = this.open.get(turnId)
    if (response === undefined) return
    this.open.delete(turnId)
    for (const pieces of this.deltas.values()) response.steps.push(Script.bareDeltas(...pieces))
    this.deltas.clear()
    response.end = Script.hang
  }

  read(method: string, params: unknown): void {
    const turnId = String(at(params, "turnId") ?? at(params, "turn", "id"))
    switch (method) {
      case "turn/started":
        this.of(turnId)
        return
      case "item/started":
        this.started(turnId, at(params, "item"))
        return
      case "item/completed":
        this.completed(turnId, at(params, "item"))
        return
      case "item/agentMessage/delta":
        this.deltas.get(String(at(params, "itemId")))?.push(String(at(params, "delta")))
        return
      case "turn/plan/updated":
        this.of(turnId).steps.push(Script.toolCall("update_plan", {}, planCall(this.plans++)))
        return
      case "thread/tokenUsage/updated":
        this.of(turnId).usage = usageOf(at(params, "tokenUsage", "last"))
        this.open.delete(turnId)
        return
      case "turn/completed":
        this.ended(turnId)
        return
    }
  }

  /** The process has ended with these turns. */
  finish(): void {
    for (const turnId of [...this.open.keys()]) this.ended(turnId)
  }
}

/** The replies of the provider to one process. */
export const scriptOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Script.ProviderReply> => {
  const reader = new Reader()
  const first = new Set<string>()
  for (const entry of entries) {
    if (entry.dir !== "s2c") continue
    const { id, method, params } = entry.message
    if (method === undefined || id !== undefined) continue
    // Every subscriber gets the same notifications: those of the first one are enough.
    const thread = String(at(params, "threadId"))
    if (!first.has(`${thread} ${entry.conn}`)) {
      if ([...first].some((one) => one.startsWith(`${thread} `))) continue
      first.add(`${thread} ${entry.conn}`)
    }
    reader.read(method, params)
  }
  reader.finish()
  return reader.responses.map(({ end, steps, usage }) =>
    end === undefined ? Script.replyWithUsage(usage, ...steps) : Script.reply(...steps, end),
  )
}
