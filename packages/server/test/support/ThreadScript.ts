/**
 * What the provider of a recording of app-server v2 must have sent: its responses, read off the items and notifications that
 * they caused. A response ends with the usage that it reports. Where the client has sent something during a response, the
 * rest of it is sent afterwards on the virtual clock of the replay.
 */
import * as Script from "@colloquy/testing/ProviderScript"
import type { Entry } from "./Recording.ts"
import { at } from "./ThreadNames.ts"
import { failureOf } from "./ThreadFailures.ts"

/** How far the replay advances the clock before the client sends something. */
export const pace = 100

type Ending = "usage" | "hang" | Script.ProviderReply

interface Response {
  readonly steps: Array<Script.ProviderStep>
  usage: Script.ProviderUsage
  ending: Ending
  hasCalls: boolean
}

interface Turn {
  response: Response | undefined
  /** The time that the response has reached. */
  clock: number
  /** The last response that has ended. */
  last: Response | undefined
  /** Deltas of the messages that have not ended, by item. */
  readonly deltas: Map<string, Array<string>>
  isCompacting: boolean
}

const callTypes = new Set([
  "commandExecution",
  "fileChange",
  "mcpToolCall",
  "dynamicToolCall",
  "imageView",
])

/** The requests of the server about a call that is no item. */
const callQuestions = new Set(["item/permissions/requestApproval", "item/tool/requestUserInput"])

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
  private readonly turns = new Map<string, Turn>()
  private readonly calls = new Set<string>()
  private plans = 0
  private unknowns = 0
  /** The last total of each thread. */
  private readonly totals = new Map<string, string>()
  /** When the client has sent something last. */
  now = 0

  /** The response that is sent now; a turn that has not ended begins another one. */
  private current(turn: Turn): Response {
    if (turn.response !== undefined) return turn.response
    if (turn.last !== undefined && turn.last.ending === "usage" && !turn.last.hasCalls) {
      // The call of an unknown tool, of which the original shows nothing.
      this.call(turn.last, `unknown_${this.unknowns++}`)
    }
    const response: Response = {
      steps: [],
      usage: Script.defaultUsage,
      ending: "hang",
      hasCalls: false,
    }
    turn.response = response
    if (turn.last !== undefined) turn.clock = Math.max(turn.clock, this.now)
    this.responses.push(response)
    return response
  }

  private call(response: Response, id: string, name = "shell", args: unknown = {}): void {
    response.hasCalls = true
    response.steps.push(Script.toolCall(name, args, id))
  }

  /** The response, in which time has passed up to now. */
  private at(turn: Turn): Response {
    const response = this.current(turn)
    if (this.now > turn.clock) {
      const until = this.now + pace / 2
      response.steps.push(Script.delay(`${until - turn.clock} millis`))
      turn.clock = until
    }
    return response
  }

  private end(turn: Turn, ending: Ending): void {
    const { response } = turn
    if (response === undefined) return
    response.ending = ending
    turn.last = response
    turn.response = undefined
  }

  private started(turn: Turn, item: unknown, isFirst: boolean): void {
    const [id, type] = [String(at(item, "id")), String(at(item, "type"))]
    if (type === "userMessage" && !isFirst && turn.response !== undefined) this.steered(turn)
    if (type === "contextCompaction") turn.isCompacting = true
    if (type === "agentMessage") {
      this.at(turn)
      turn.deltas.set(id, [])
    }
    if (!callTypes.has(type) || at(item, "source") === "userShell" || this.calls.has(id)) return
    this.calls.add(id)
    if (type === "dynamicToolCall") {
      this.call(this.at(turn), id, String(at(item, "tool")), at(item, "arguments"))
    } else this.call(this.at(turn), id)
  }

  /** The original breaks the response off for further input; Colloquy waits for its end. */
  private steered(turn: Turn): void {
    const response = this.at(turn)
    for (const pieces of turn.deltas.values()) {
      if (pieces.length > 0) this.replaceDeltas(response, pieces)
    }
    turn.deltas.clear()
    response.hasCalls = true
    this.end(turn, "usage")
  }

  private replaceDeltas(response: Response, pieces: ReadonlyArray<string>): void {
    // The deltas are there already: only the finished item is missing.
    response.steps.push(
      Script.event({
        type: "response.output_item.done",
        item: {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: pieces.join(""), annotations: [] }],
        },
      }),
    )
  }

  private completed(turn: Turn, item: unknown): void {
    const [id, type] = [String(at(item, "id")), String(at(item, "type"))]
    if (type === "contextCompaction") {
      this.at(turn).steps.push(Script.text("summary"))
      turn.isCompacting = false
      this.end(turn, "usage")
      turn.last = undefined
    }
    if (type === "reasoning") this.at(turn).steps.push(...reasoning(item))
    if (type !== "agentMessage" || !turn.deltas.has(id)) return
    const response = this.at(turn)
    const text = String(at(item, "text"))
    if (turn.deltas.get(id)?.length === 0) response.steps.push(Script.text(text))
    else this.replaceDeltas(response, [text])
    turn.deltas.delete(id)
  }

  private delta(turn: Turn, params: unknown): void {
    const delta = String(at(params, "delta"))
    this.at(turn).steps.push(Script.bareDeltas(delta))
    turn.deltas.get(String(at(params, "itemId")))?.push(delta)
  }

  private usage(turn: Turn, params: unknown): void {
    // A total that has not changed reports no response.
    const thread = String(at(params, "threadId"))
    const total = JSON.stringify(at(params, "tokenUsage", "total"))
    if (total === this.totals.get(thread)) return
    this.totals.set(thread, total)
    const response = this.current(turn)
    response.usage = usageOf(at(params, "tokenUsage", "last"))
    // The summary of a compaction ends with its item.
    if (turn.isCompacting) return
    if (!response.hasCalls) this.at(turn)
    this.end(turn, "usage")
  }

  /** When the client was told the ids of turns. */
  private readonly promised = new Map<string, number>()

  /** A request was answered: it may have started a turn. */
  answered(result: unknown): void {
    const id = at(result, "turn", "id")
    if (typeof id === "string" && !this.promised.has(id)) this.promised.set(id, this.now)
  }

  read(method: string, params: unknown): void {
    const turnId = String(at(params, "turnId") ?? at(params, "turn", "id"))
    if (method === "turn/started") {
      const turn: Turn = {
        response: undefined,
        clock: this.promised.get(turnId) ?? this.now,
        last: undefined,
        deltas: new Map(),
        isCompacting: false,
      }
      this.turns.set(turnId, turn)
      this.current(turn)
      return
    }
    const turn = this.turns.get(turnId)
    if (turn === undefined) return
    switch (method) {
      case "item/started":
        return this.started(turn, at(params, "item"), this.isFirst(turn))
      case "item/completed":
        return this.completed(turn, at(params, "item"))
      case "item/agentMessage/delta":
        return this.delta(turn, params)
      case "turn/plan/updated":
        return this.call(this.at(turn), planCall(this.plans++), "update_plan")
      case "thread/tokenUsage/updated":
        return this.usage(turn, params)
      case "error":
        return this.end(turn, failureOf(at(params, "error"), this.current(turn).steps))
      case "turn/completed":
        this.end(turn, at(params, "turn", "status") === "completed" ? "usage" : "hang")
        this.turns.delete(turnId)
    }
  }

  /** A question about a call of which there is no item. */
  asked(method: string, params: unknown): void {
    const turn = this.turns.get(String(at(params, "turnId")))
    const id = String(at(params, "itemId"))
    if (turn === undefined || !callQuestions.has(method) || this.calls.has(id)) return
    this.calls.add(id)
    this.call(this.at(turn), id)
  }

  private readonly greeted = new Set<Turn>()

  /** True for the first item of a turn. */
  private isFirst(turn: Turn): boolean {
    const isFirst = !this.greeted.has(turn)
    this.greeted.add(turn)
    return isFirst
  }
}

const replyOf = ({ ending, steps, usage }: Response): Script.ProviderReply => {
  if (ending === "usage") return Script.replyWithUsage(usage, ...steps)
  return ending === "hang" ? Script.reply(...steps, Script.hang) : ending
}

/** The replies of the provider to one process. */
export const scriptOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Script.ProviderReply> => {
  const reader = new Reader()
  const first = new Map<string, string>()
  let last: Entry["dir"] = "note"
  for (const entry of entries) {
    if (entry.dir === "c2s" && last !== "c2s") reader.now += pace
    last = entry.dir
    if (entry.dir === "note") {
      const [, dropped] = /"(\w) drops without close"/.exec(entry.note) ?? []
      for (const [thread, conn] of first) if (conn === dropped) first.delete(thread)
    }
    if (entry.dir !== "s2c") continue
    const { id, method, params, result } = entry.message
    if (method === undefined) {
      reader.answered(result)
      continue
    }
    // Every subscriber gets the same notifications: those of the first one are enough.
    const thread = String(at(params, "threadId"))
    if (method !== "thread/started" && !first.has(thread)) first.set(thread, entry.conn)
    if (first.get(thread) !== entry.conn) continue
    if (id === undefined) reader.read(method, params)
    else reader.asked(method, params)
  }
  return reader.responses.map(replyOf)
}
