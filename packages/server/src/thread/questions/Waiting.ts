/** What a thread waits for: the questions without an answer. Used by one fold of its events (`ThreadFold.ts`). */
import type { EventMsg } from "@colloquy/protocol/EventMsg"

/** What a thread can wait for. */
const flags = ["waitingOnApproval", "waitingOnUserInput"] as const
type WaitingFlag = (typeof flags)[number]

/** See the header. */
export class Waiting {
  /** What each question that waits for an answer is about, by its id. */
  private readonly questions: Map<string, WaitingFlag>

  constructor(questions: ReadonlyMap<string, WaitingFlag> = new Map()) {
    this.questions = new Map(questions)
  }

  /** The same questions, which continue on their own. */
  copy(): Waiting {
    return new Waiting(this.questions)
  }

  /** Ids of the questions. */
  get ids(): ReadonlyArray<string> {
    return [...this.questions.keys()]
  }

  /** What they are about, each kind once. */
  get flags(): ReadonlyArray<WaitingFlag> {
    if (this.questions.size === 0) return []
    const waiting = new Set(this.questions.values())
    return flags.filter((flag) => waiting.has(flag))
  }

  /** Adds the question that the event asks, or removes the one that it resolves. */
  count(msg: EventMsg): void {
    switch (msg.type) {
      case "exec_approval_request":
      case "apply_patch_approval_request":
      case "tool_approval_request":
      case "request_permissions":
        this.questions.set(msg.call_id, "waitingOnApproval")
        return
      case "elicitation_request":
        this.questions.set(msg.id, "waitingOnApproval")
        return
      case "request_user_input":
        this.questions.set(msg.call_id, "waitingOnUserInput")
        return
      case "approval_resolved":
        this.questions.delete(msg.call_id)
        return
      default:
    }
  }

  /** The turn has ended, and its questions with it. */
  clear(): void {
    this.questions.clear()
  }
}
