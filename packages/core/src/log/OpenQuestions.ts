/**
 * The questions of a log that nothing has resolved: what a listener that can answer has to be asked. A fold of the
 * events, so it says the same at the same place of the log to everyone.
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { isQuestion, questionId } from "../question/ApprovalEvents.ts"

export class OpenQuestions {
  /** By the id they are resolved by; made by the first question: most conversations have none. */
  private open: Map<string, Event> | undefined

  add(event: Event): void {
    const { msg } = event
    if (isQuestion(msg)) {
      this.open ??= new Map()
      this.open.set(questionId(msg), event)
    } else if (msg.type === "approval_resolved") {
      this.open?.delete(msg.call_id)
    } else if (isTerminal(msg)) {
      for (const [name, { id }] of this.open ?? []) if (id === event.id) this.open?.delete(name)
    }
  }

  has({ msg, seq }: Event): boolean {
    return isQuestion(msg) && this.open?.get(questionId(msg))?.seq === seq
  }

  /** Oldest first. */
  all(): ReadonlyArray<Event> {
    return [...(this.open?.values() ?? [])]
  }
}
