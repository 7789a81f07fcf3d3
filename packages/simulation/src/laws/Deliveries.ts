/** L4 over a story: what listeners are given. Pure. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ListenerHistory, History } from "../trace/History.ts"

/** The events that complete a streamed text, and the text of those that repeat it. */
const streams = {
  agent_message_delta: {
    whole: (msg: EventMsg) => (msg.type === "agent_message" ? msg.message : undefined),
  },
  agent_reasoning_delta: {
    whole: (msg: EventMsg) => (msg.type === "agent_reasoning" ? msg.text : undefined),
  },
} as const

/** Follows one listener's deliveries and collects what is wrong with them. */
class Follower {
  readonly faults: Array<string> = []
  next: number | undefined
  private replaying = true
  private readonly texts = new Map<string, string>()
  /** What a failed attempt had streamed: the turn records it where no later attempt gives a text. */
  private readonly unfinished = new Map<string, string>()
  private readonly story: ListenerHistory
  private readonly log: ReadonlyArray<Event>

  constructor(story: ListenerHistory, log: ReadonlyArray<Event>) {
    this.story = story
    this.log = log
  }

  private fault(what: string): void {
    this.faults.push(`${this.story.entry.listener}: ${what}`)
  }

  private begin(seq: number): void {
    const { from, before } = this.story.entry
    // Without a number it begins with the log's next, which a snapshot of the state may be a step behind.
    const [low, high] = from === undefined ? [before, Infinity] : [from, from]
    if (seq < low || seq > high) this.fault(`begins at ${seq}, not in ${low}..${high}`)
    this.next = seq
  }

  deliver(delivery: Delivery): void {
    if (delivery._tag === "Event") {
      const { event } = delivery
      if (isEphemeral(event.msg)) this.delta(event)
      else this.durable(event)
      return
    }
    if (delivery._tag === "Ask") return this.asked(delivery.event)
    const seq = delivery._tag === "Synced" ? delivery.seq : delivery.from
    if (this.next === undefined) this.begin(seq)
    if (seq !== this.next) this.fault(`${JSON.stringify(delivery)} where ${this.next} is next`)
    if (delivery._tag === "Lagged" || !this.replaying) {
      this.texts.clear()
      this.unfinished.clear()
    }
    if ((delivery._tag === "Synced") !== this.replaying) {
      this.fault(`an unexpected ${JSON.stringify(delivery)}`)
    }
    this.replaying = delivery._tag === "Lagged"
  }

  private asked({ seq }: Event): void {
    if (this.story.entry.answering === undefined) this.fault("is asked, and never said it answers")
    if (seq >= (this.next ?? 0)) this.fault(`is asked ${seq} where ${this.next} is next`)
  }

  private durable(event: Event): void {
    if (this.next === undefined) this.begin(event.seq)
    if (event.seq !== this.next) this.fault(`event ${event.seq} where ${this.next} is next`)
    this.next = event.seq + 1
    const logged = this.log[event.seq]
    if (JSON.stringify(event) !== JSON.stringify(logged)) {
      this.fault(`${JSON.stringify(event)} where the log has ${JSON.stringify(logged)}`)
    }
    // What tells of a summary is said by nobody.
    if (this.log[event.seq - 1]?.msg.type === "compacted") return
    for (const [type, { whole }] of Object.entries(streams)) {
      const text = whole(event.msg)
      if (text === undefined) continue
      const key = `${event.id} ${type}`
      const heard = this.texts.get(key) ?? this.unfinished.get(key)
      this.texts.delete(key)
      this.unfinished.delete(key)
      // In a replay the items come without their deltas.
      const isWithoutDeltas = this.replaying || this.isOfFailedAttempt(event)
      if (heard !== text && !(heard === undefined && isWithoutDeltas)) {
        this.fault(`deltas ${JSON.stringify(heard)} of ${JSON.stringify(text)}`)
      }
    }
    const { type } = event.msg
    if (type === "stream_error" || type === "task_complete" || type === "turn_aborted") {
      for (const delta of Object.keys(streams)) this.drop(`${event.id} ${delta}`)
    }
  }

  /** True for the text of an attempt that failed before this listener was in step, recorded as its turn failed or stopped. */
  private isOfFailedAttempt({ id, seq }: Event): boolean {
    const next = this.log[seq + 1]?.msg.type
    return (
      (next === "error" || next === "turn_aborted") &&
      this.log.slice(0, seq).some((one) => one.id === id && one.msg.type === "stream_error")
    )
  }

  private drop(key: string): void {
    const text = this.texts.get(key)
    if (text !== undefined) this.unfinished.set(key, text)
    this.texts.delete(key)
  }

  private delta(event: Event): void {
    if (event.seq + 1 !== (this.next ?? event.seq + 1)) {
      this.fault(`a delta after ${event.seq} where ${this.next} is next`)
    }
    if ("delta" in event.msg) {
      const { type, delta } = event.msg
      const text = `${event.id} ${type}`
      this.unfinished.delete(text)
      this.texts.set(text, (this.texts.get(text) ?? "") + delta)
    }
  }
}

const follow = (listener: ListenerHistory, log: ReadonlyArray<Event>): Follower => {
  const follower = new Follower(listener, log)
  for (const { deliveries } of listener.takes) {
    for (const delivery of deliveries) follower.deliver(delivery)
  }
  return follower
}

/** L4: replay, synced, live: no gap, no repeat, the same events for everyone, and the whole of every text. */
export const nothingLost = ({ listeners, conversations }: History): ReadonlyArray<string> =>
  listeners.flatMap((listener) => {
    const { durable, lost = false } = conversations.get(listener.entry.conversation) ?? {}
    const log = durable?.map(({ event }) => event)
    // Nobody could read it at the end.
    if (log === undefined) return []
    const follower = follow(listener, log)
    const next = follower.next ?? log.length
    // One life ended with its last word, or could not be recorded any more; another one went on.
    const over = lost || log[next - 1]?.msg.type === "shutdown_complete"
    const complete = !listener.ended || over || next === log.length
    return complete
      ? follower.faults
      : [
          ...follower.faults,
          `${listener.entry.listener}: ended at ${follower.next} of ${log.length}`,
        ]
  })

/** L4: the log itself is numbered from 0 without a gap and ends with the conversation's last word. */
export const numbered = ({ conversations, listeners, run }: History): ReadonlyArray<string> => {
  const closing = run.trace.findIndex(({ at }) => at === "closing")
  const quiet = (id: string) =>
    listeners.every(
      ({ at, entry }) => entry.conversation !== id || (closing !== -1 && at > closing),
    )
  return [...conversations.values()].flatMap(({ id, durable }) => [
    ...durable.flatMap(({ event }, i) =>
      event.seq === i ? [] : [`${id}: event ${event.seq} at place ${i}`],
    ),
    // One that nobody uses ends with its manager without a word, and may be heard only then.
    ...(run.end !== "done" || durable.at(-1)?.event.msg.type === "shutdown_complete" || quiet(id)
      ? []
      : [`${id}: ends with ${JSON.stringify(durable.at(-1)?.event)}`]),
  ])
}
