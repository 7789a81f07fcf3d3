/**
 * What a chat shows of deliveries: each changes the state and makes rows final. No I/O: the session writes the rows, and
 * `PlainChat` prints them.
 */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { TextOptions } from "../sessions/SessionText.ts"
import { rowsOf } from "../Width.ts"
import { type ChatState, initialState } from "./ChatState.ts"
import { type Question, questionOf } from "./Question.ts"
import { Transcript } from "./Transcript.ts"

const withoutFirst = (texts: ReadonlyArray<string>, text: string): ReadonlyArray<string> => {
  const at = texts.findIndex((one) => one.trim() === text.trim())
  return at === -1 ? texts : texts.filter((_, index) => index !== at)
}

/** See the header. */
export class ChatView {
  /** What the session changes by keys. */
  state: ChatState = initialState
  private transcript = new Transcript()
  /** False while the events are those of earlier turns. */
  private isLive = false

  /** True once a turn has begun, in this conversation or in the one that it is a copy of. */
  private hasTurns = false

  /** True where nothing was said yet. */
  get isEmpty(): boolean {
    return this.isLive && !this.hasTurns && this.state.sent.length === 0
  }

  /** True once the events are those of this moment. */
  get isSynced(): boolean {
    return this.isLive
  }

  private readonly answered = new Set<string>()

  /** The rows that the delivery makes final. */
  delivered(delivery: Delivery, options: TextOptions, nowMs: number): ReadonlyArray<string> {
    switch (delivery._tag) {
      case "Event":
        return this.event(delivery.event, options, nowMs)
      case "Ask":
        return this.ask(delivery.event, options, nowMs)
      case "Synced":
        this.isLive = true
        return []
      case "Lagged":
        return []
    }
  }

  /** The rows of the text that is being received, and of what running calls print. */
  open(options: TextOptions): ReadonlyArray<string> {
    return this.transcript.open(options)
  }

  /** The diff of the last turn that changed files. */
  get diff(): string {
    return this.transcript.diff
  }

  /** The row that reports an answer of this person. */
  answer(question: Question, text: string, { style }: TextOptions): ReadonlyArray<string> {
    this.answered.add(question.id)
    return [style.good(`  ✓ ${text}`)]
  }

  /** Shows a copy of the conversation from now on. */
  change(): void {
    this.transcript = new Transcript()
    this.isLive = false
    this.state = { ...this.state, turn: undefined, sent: [], questions: [] }
  }

  private event(event: Event, options: TextOptions, nowMs: number): ReadonlyArray<string> {
    const { msg } = event
    const rows = this.transcript.event(event, options)
    if (msg.type === "task_started") {
      this.hasTurns = true
      this.state = { ...this.state, turn: { id: event.id, startedMs: nowMs, isStopping: false } }
    }
    if (msg.type === "user_message" && (msg.kind ?? "plain") === "plain") {
      this.state = { ...this.state, sent: withoutFirst(this.state.sent, msg.message) }
    }
    if (msg.type === "approval_resolved") {
      return [...rows, ...this.resolved(msg.call_id, msg.decision, options)]
    }
    const { turn } = this.state
    // A submission that was withdrawn before its turn began has a terminal event, too.
    if (!isTerminal(msg) || (turn !== undefined && turn.id !== event.id)) return rows
    this.state = { ...this.state, turn: undefined, questions: [] }
    return turn === undefined || !this.isLive
      ? rows
      : [...rows, ...Transcript.footer(nowMs - turn.startedMs, options)]
  }

  private ask(event: Event, options: TextOptions, nowMs: number): ReadonlyArray<string> {
    const question = questionOf(event, nowMs)
    if (question === undefined || this.state.questions.some(({ id }) => id === question.id))
      return []
    this.state = { ...this.state, questions: [...this.state.questions, question] }
    const text = rowsOf(question.text, options.columns - 4).map((row, index) =>
      index === 0 ? options.style.accent(`  ? ${row}`) : options.style.dim(`    ${row}`),
    )
    const changes =
      question.changes === undefined
        ? []
        : this.transcript.asked(question.id, question.changes, options)
    return [...text, ...changes]
  }

  /** Somebody else, a rule or the deadline may have decided it. */
  private resolved(id: string, decision: string, { style }: TextOptions): ReadonlyArray<string> {
    const wasShown = this.state.questions.some((one) => one.id === id)
    this.state = { ...this.state, questions: this.state.questions.filter((one) => one.id !== id) }
    if (this.answered.delete(id) || !wasShown) return []
    return [style.dim(`  ✓ ${decision}, not by this terminal`)]
  }
}
