/**
 * The event log of a conversation in memory: its durable events in order, and the texts that were streamed and are not
 * recorded yet.
 * Only the fiber of the conversation appends; listeners read. Keeps L4: `events[n].seq === n`.
 */
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { ContextTokens } from "./TokenGauge.ts"
import { foldHistory, History } from "./History.ts"
import { OpenQuestions } from "./OpenQuestions.ts"
import { type EndedSection, PartialTexts } from "./PartialText.ts"

const noTimes: ReadonlyArray<number> = []

const isDurable = ({ msg }: Event): boolean => !isEphemeral(msg)

const deltaOf = ({ end, id, text }: Readonly<EndedSection>): Event => ({
  seq: end - 1,
  id,
  msg: { type: "agent_reasoning_delta", delta: text },
})

interface Folded {
  history: History
  next: number
}

/** The event log of one conversation. */
export class EventLog {
  private durable: Array<Event> = []
  /** The times of the durable events. */
  private times: Array<number> = []
  private readonly partials = new PartialTexts()
  private readonly questions = new OpenQuestions()
  /** The history, made for the first request, and the number of the next event to fold into it. */
  private folded: Folded | undefined

  /** Number that the next durable event gets. */
  get seq(): number {
    return this.durable.length
  }

  /**
   * Appends numbered events. Ephemeral ones only update the text in progress.
   *
   * @param times when the durable ones among them were recorded, in milliseconds since the epoch; default: unknown, 0
   */
  append(events: ReadonlyArray<Event>, times = noTimes): void {
    const isFirst = this.durable.length === 0
    // A copied array has no spare capacity: most conversations have no event after the first batch.
    if (isFirst) {
      this.durable = events.filter(isDurable).slice()
      this.times = this.durable.map((_, place) => times[place] ?? 0)
    }
    let place = 0
    for (const event of events) {
      if (isDurable(event)) {
        if (!isFirst) {
          this.durable.push(event)
          this.times.push(times[place++] ?? 0)
        }
        this.questions.add(event)
      }
      this.partials.add(event)
    }
  }

  /** When the durable event with this number was recorded, in milliseconds since the epoch. */
  timeOf(seq: number): number {
    return this.times[seq] ?? 0
  }

  /** At most `max` durable events, from number `from` on. */
  slice(from: number, max: number): ReadonlyArray<Event> {
    return this.durable.slice(from, from + max)
  }

  /** Every durable event. */
  all(): ReadonlyArray<Event> {
    return this.durable
  }

  /** The history for the next request. Later events do not change the returned array. */
  history(): ReadonlyArray<ResponseItem> {
    return this.fold().items()
  }

  /**
   * Adds events to the history that are about to be appended, so that a request that is sent meanwhile contains them. The
   * next events to be appended must be these; where they cannot be recorded, the history must not be used any more.
   */
  foldAhead(events: ReadonlyArray<Event>): void {
    this.fold()
    const { folded } = this
    if (folded === undefined) return
    for (const event of events) {
      if (!isDurable(event) || event.seq < folded.next) continue
      this.foldNext(folded, event, events)
      folded.next = event.seq + 1
    }
  }

  /** Size of that history in tokens. */
  tokens(): ContextTokens {
    return this.fold().tokens
  }

  private fold(): History {
    const folded = (this.folded ??= { history: new History(), next: 0 })
    for (; folded.next < this.durable.length; folded.next++) {
      const event = this.durable[folded.next]
      if (event !== undefined) this.foldNext(folded, event)
    }
    return folded.history
  }

  /** `ahead`: events that are about to be appended, of which this is one. */
  private foldNext(folded: Folded, event: Event, ahead: ReadonlyArray<Event> = []): void {
    if (event.msg.type !== "thread_rolled_back") return folded.history.add(event)
    const log = [...this.durable, ...ahead.filter(isDurable)]
    folded.history = foldHistory(log.filter(({ seq }) => seq <= event.seq))
  }

  /** The events of pending questions, oldest first. */
  openQuestions(): ReadonlyArray<Event> {
    return this.questions.all()
  }

  /** True for an event of a pending question. */
  isOpenQuestion(event: Event): boolean {
    return this.questions.has(event)
  }

  /**
   * The whole text of the section of reasoning that this section break ends, as one delta before it. Undefined for another
   * event, and where the log has the text or it is discarded.
   */
  endedBy({ msg, seq }: Event): Event | undefined {
    if (msg.type !== "agent_reasoning_section_break") return undefined
    const section = this.partials.sections.find(({ end }) => end === seq)
    return section === undefined ? undefined : deltaOf(section)
  }

  /**
   * The sections of reasoning that breaks before number `seq` have ended and that are not recorded before it: for each one
   * delta with the whole text, and its break.
   */
  sectionsBefore(seq: number): ReadonlyArray<Event> {
    return this.partials.sections.flatMap((section) => {
      const { end, record = Infinity } = section
      const last = end < seq && record >= seq ? this.durable[end] : undefined
      return last === undefined ? [] : [deltaOf(section), last]
    })
  }

  /** One delta per text in progress, with the whole text so far. */
  inProgress(): ReadonlyArray<Event> {
    const seq = this.durable.length - 1
    return this.partials.current().map(({ id, msg }) => ({ seq, id, msg }))
  }
}
