/**
 * The pending questions of a log, which a listener that can answer gets when it attaches. A fold of the events, so every
 * reader gets the same result at the same position of the log.
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { isQuestion, questionId } from "../question/ApprovalEvents.ts"

/** The fold. */
export class OpenQuestions {
  /** By the id that `approval_resolved` names. Made by the first question, since most conversations have none. */
  private open: Map<string, Event> | undefined

  /** Folds the next event. */
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

  /** True for the event of a pending question. */
  has({ msg, seq }: Event): boolean {
    return isQuestion(msg) && this.open?.get(questionId(msg))?.seq === seq
  }

  /** Events of the pending questions, oldest first. */
  all(): ReadonlyArray<Event> {
    return [...(this.open?.values() ?? [])]
  }
}
