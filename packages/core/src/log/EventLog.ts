/**
 * The truth of a conversation: its durable events in order, and the text so far of what is being streamed.
 * Appended to by the conversation's fiber alone; read by listeners. Keeps L4: `events[n].seq === n`.
 */
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { ContextTokens } from "./TokenGauge.ts"
import { History } from "./History.ts"
import { OpenQuestions } from "./OpenQuestions.ts"
import { PartialTexts } from "./PartialText.ts"

const isDurable = ({ msg }: Event): boolean => !isEphemeral(msg)

export class EventLog {
  private durable: Array<Event> = []
  private readonly partials = new PartialTexts()
  private readonly questions = new OpenQuestions()
  /** Made for the first request, and the number of the next event to fold into it. */
  private folded: { readonly history: History; next: number } | undefined

  /** Number of the next durable event. */
  get seq(): number {
    return this.durable.length
  }

  append(events: ReadonlyArray<Event>): void {
    const isFirst = this.durable.length === 0
    // Copied, an array is as long as its contents and no longer: most conversations say nothing after the first.
    if (isFirst) this.durable = events.filter(isDurable).slice()
    for (const event of events) {
      if (isDurable(event)) {
        if (!isFirst) this.durable.push(event)
        this.questions.add(event)
      }
      this.partials.add(event.id, event.msg)
    }
  }

  /** Durable events from number `from` on, at most `max`. */
  slice(from: number, max: number): ReadonlyArray<Event> {
    return this.durable.slice(from, from + max)
  }

  /** Every durable event. */
  all(): ReadonlyArray<Event> {
    return this.durable
  }

  /** The model's history of every durable event; what was given out does not change with later ones. */
  history(): ReadonlyArray<ResponseItem> {
    return this.fold().items()
  }

  /** How much of the model's context that history takes. */
  tokens(): ContextTokens {
    return this.fold().tokens
  }

  private fold(): History {
    const folded = (this.folded ??= { history: new History(), next: 0 })
    for (; folded.next < this.durable.length; folded.next++) {
      const event = this.durable[folded.next]
      if (event !== undefined) folded.history.add(event)
    }
    return folded.history
  }

  /** The events that put a question nothing has resolved, oldest first. */
  openQuestions(): ReadonlyArray<Event> {
    return this.questions.all()
  }

  /** True for one of `openQuestions`. */
  isOpenQuestion(event: Event): boolean {
    return this.questions.has(event)
  }

  /** One delta per text in progress, each with all its text so far. */
  inProgress(): ReadonlyArray<Event> {
    const seq = this.durable.length - 1
    return this.partials.current().map(({ id, msg }) => ({ seq, id, msg }))
  }
}
