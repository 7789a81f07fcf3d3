/** L4 over the history of a run: what listeners receive. Pure. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ListenerHistory, History } from "../trace/History.ts"

/** For each kind of delta, how to read the complete text from the durable event that repeats it. */
const streams = {
  agent_message_delta: {
    whole: (msg: EventMsg) => (msg.type === "agent_message" ? msg.message : undefined),
  },
  agent_reasoning_delta: {
    whole: (msg: EventMsg) => (msg.type === "agent_reasoning" ? msg.text : undefined),
  },
} as const

/** Follows one listener's deliveries and collects the violations. */
class Follower {
  readonly faults: Array<string> = []
  next: number | undefined
  private replaying = true
  private readonly texts = new Map<string, string>()
  /** Text that a failed attempt streamed: the turn records it when no later attempt produces a text. */
  private readonly unfinished = new Map<string, string>()
  private readonly history: ListenerHistory
  private readonly log: ReadonlyArray<Event>

  constructor(history: ListenerHistory, log: ReadonlyArray<Event>) {
    this.history = history
    this.log = log
  }

  private fault(what: string): void {
    this.faults.push(`${this.history.entry.listener}: ${what}`)
  }

  private start(seq: number): void {
    const { from, before } = this.history.entry
    // Without a number it starts at the next event of the log; the state that was read before may be one step behind.
    const [low, high] = from === undefined ? [before, Infinity] : [from, from]
    if (seq < low || seq > high) this.fault(`starts at ${seq}, not in ${low}..${high}`)
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
    if (this.next === undefined) this.start(seq)
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
    if (this.history.entry.answering === undefined)
      this.fault("is asked a question without having declared that it answers")
    if (seq >= (this.next ?? 0)) this.fault(`is asked question ${seq} where ${this.next} is next`)
  }

  private durable(event: Event): void {
    if (this.next === undefined) this.start(event.seq)
    if (event.seq !== this.next) this.fault(`event ${event.seq} where ${this.next} is next`)
    this.next = event.seq + 1
    const logged = this.log[event.seq]
    if (JSON.stringify(event) !== JSON.stringify(logged)) {
      this.fault(`${JSON.stringify(event)} where the log has ${JSON.stringify(logged)}`)
    }
    // The message that announces a summary was never streamed.
    if (this.log[event.seq - 1]?.msg.type === "compacted") return
    for (const [type, { whole }] of Object.entries(streams)) {
      const text = whole(event.msg)
      if (text === undefined) continue
      const key = `${event.id} ${type}`
      const streamed = this.texts.get(key) ?? this.unfinished.get(key)
      this.texts.delete(key)
      this.unfinished.delete(key)
      // In a replay the items come without their deltas.
      const isWithoutDeltas = this.replaying || this.isOfFailedAttempt(event)
      if (streamed !== text && !(streamed === undefined && isWithoutDeltas)) {
        this.fault(`deltas ${JSON.stringify(streamed)} of ${JSON.stringify(text)}`)
      }
    }
    const { type } = event.msg
    if (type === "stream_error" || type === "task_complete" || type === "turn_aborted") {
      for (const delta of Object.keys(streams)) this.drop(`${event.id} ${delta}`)
    }
  }

  /** True for the text of an attempt that failed before this listener was synchronized; it is recorded when its turn ends. */
  private isOfFailedAttempt({ id, seq }: Event): boolean {
    const texts = ["raw_response_item", "agent_message", "agent_reasoning"]
    const next = this.log.slice(seq + 1).find(({ msg }) => !texts.includes(msg.type))?.msg.type
    return (
      (next === "error" || next === "turn_aborted" || next === "task_complete") &&
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

/** L4: replay, `synced`, live: no gap, no repetition, the same events for every listener, and the complete text of every stream. */
export const nothingLost = ({ listeners, conversations }: History): ReadonlyArray<string> =>
  listeners.flatMap((listener) => {
    const { durable, lost = false } = conversations.get(listener.entry.conversation) ?? {}
    const log = durable?.map(({ event }) => event)
    // The log could not be read at the end.
    if (log === undefined) return []
    const follower = follow(listener, log)
    const next = follower.next ?? log.length
    // The conversation may have shut down, or may no longer have been recordable, and was then loaded again.
    const over = lost || log[next - 1]?.msg.type === "shutdown_complete"
    const complete = !listener.ended || over || next === log.length
    return complete
      ? follower.faults
      : [
          ...follower.faults,
          `${listener.entry.listener}: ended at ${follower.next} of ${log.length}`,
        ]
  })

/** L4: the log is numbered from 0 without a gap and ends with `shutdown_complete`. */
export const numbered = ({ conversations, listeners, run }: History): ReadonlyArray<string> => {
  const closing = run.trace.findIndex(({ at }) => at === "closing")
  const quiet = (id: string) =>
    listeners.every(
      ({ at, entry }) => entry.conversation !== id || (closing !== -1 && at > closing),
    )
  return [...conversations.values()].flatMap(({ id, durable }) => [
    ...durable.flatMap(({ event }, i) =>
      event.seq === i ? [] : [`${id}: event ${event.seq} at index ${i}`],
    ),
    // A conversation that is not in use ends with its manager without a last event, and may be audited only then.
    ...(run.end !== "done" || durable.at(-1)?.event.msg.type === "shutdown_complete" || quiet(id)
      ? []
      : [`${id}: ends with ${JSON.stringify(durable.at(-1)?.event)}`]),
  ])
}
