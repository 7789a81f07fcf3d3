import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Draft, numberDrafts } from "../../src/decider/State.ts"
import { EventLog } from "../../src/log/EventLog.ts"
import type { Delivery } from "../../src/listeners/Delivery.ts"
import type { ListenerLimits } from "../../src/listeners/Backlog.ts"
import { Publisher } from "../../src/listeners/Publisher.ts"
import { SubscribedListener } from "../../src/listeners/SubscribedListener.ts"
import { durableOf, eventsOf } from "../support.ts"

const Step = Schema.Literals([
  "note",
  "letter",
  "letters",
  "empty",
  "thought",
  "message",
  "reasoning",
  "break",
  "abort",
  "publish",
  "publish",
  "take",
])
type Step = typeof Step.Type

const scenario = Arbitrary.all({
  steps: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 60 }),
  before: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 8 }),
  maxEvents: Arbitrary.schema(Schema.Literals([1, 2, 3, 5, 1000])),
  maxBytes: Arbitrary.schema(Schema.Literals([1, 3, 8, 1000])),
  skip: Arbitrary.schema(Schema.Literals([0, 0, 1, 2, 5])),
})
type Scenario = typeof scenario extends Arbitrary.Arbitrary<infer A> ? A : never

/** The part of a conversation that a listener sees: the log, and the drafts that the next batch appends to it. */
class Writer {
  readonly log = new EventLog()
  message = ""
  thought = ""
  private letters = 0
  private drafts: Array<Draft> = []

  draft(...messages: ReadonlyArray<EventMsg>): void {
    for (const msg of messages) this.drafts.push({ id: "t", msg })
  }

  /** Appends the drafts to the log and publishes them to the listener in one step, as a conversation does. */
  publish(outbox?: Backlog): void {
    const events = numberDrafts(this.log.seq, this.drafts)
    this.drafts = []
    this.log.append(events)
    outbox?.offer(events)
  }

  append(...messages: ReadonlyArray<EventMsg>): void {
    this.draft(...messages)
    this.publish()
  }

  private letter(): string {
    return String.fromCodePoint(97 + (this.letters++ % 26))
  }

  write(step: Step): void {
    switch (step) {
      case "note":
        return this.draft({ type: "background_event", message: "n" })
      case "letters":
        this.write("letter")
        this.write("letter")
        return this.write("letter")
      case "letter": {
        const delta = this.letter()
        this.message += delta
        return this.draft({ type: "agent_message_delta", delta })
      }
      case "empty":
        return this.draft({ type: "agent_message_delta", delta: "" })
      case "thought": {
        const delta = this.letter().toUpperCase()
        this.thought += delta
        return this.draft({ type: "agent_reasoning_delta", delta })
      }
      case "message": {
        const message = this.message
        this.message = ""
        return this.draft(
          { type: "background_event", message: "record" },
          {
            type: "agent_message",
            message,
          },
        )
      }
      case "reasoning": {
        const text = this.thought
        this.thought = ""
        return this.draft({ type: "agent_reasoning", text })
      }
      case "break":
        this.thought = ""
        return this.draft({ type: "agent_reasoning_section_break" })
      case "abort":
        this.message = ""
        this.thought = ""
        return this.draft({ type: "turn_aborted", reason: "interrupted" })
      case "publish":
      case "take":
        return
    }
  }
}

/** A listener that is used without a fiber: the test publishes to it, and its takes never wait. */
class Backlog {
  private readonly publisher: Publisher
  private readonly listener: SubscribedListener

  constructor(log: EventLog, limits: ListenerLimits, from: number) {
    this.publisher = new Publisher(log)
    this.listener = new SubscribedListener(this.publisher, limits, from)
  }

  get isEmpty(): boolean {
    return !this.listener.isReady
  }

  offer(events: ReadonlyArray<Event>): void {
    if (events.length === 0) return
    this.publisher.publish(events)
    this.listener.published()
  }

  take(): ReadonlyArray<Delivery> {
    return Effect.runSync(Effect.orDie(this.listener.take))
  }
}

/** Checks each delivery as it arrives; `problem` describes the first one that breaks the contract. */
class Reader {
  problem: string | undefined
  next: number
  private live = false
  private message = ""
  private thought = ""
  private readonly limits: ListenerLimits

  constructor(from: number, limits: ListenerLimits) {
    this.next = from
    this.limits = limits
  }

  get isLive(): boolean {
    return this.live
  }

  private expect(holds: boolean, problem: string): void {
    if (!holds) this.problem ??= problem
  }

  read(deliveries: ReadonlyArray<Delivery>): void {
    this.expect(deliveries.length > 0, "a take gave nothing")
    if (this.live && deliveries[0]?._tag === "Event") this.checkBounds(deliveries)
    for (const delivery of deliveries) {
      switch (delivery._tag) {
        case "Lagged":
          this.expect(this.live, "lagged while replaying")
          this.expect(delivery.from === this.next, `lagged from ${delivery.from}`)
          this.live = false
          this.message = ""
          this.thought = ""
          break
        case "Synced":
          this.expect(!this.live, "synced while live")
          this.expect(delivery.seq === this.next, `synced ${delivery.seq}, not ${this.next}`)
          this.live = true
          break
        case "Event":
          this.event(delivery.event)
      }
    }
  }

  private checkBounds(deliveries: ReadonlyArray<Delivery>): void {
    const events = eventsOf(deliveries)
    const bytes = events.reduce((sum, { msg }) => sum + ("delta" in msg ? msg.delta.length : 0), 0)
    this.expect(events.length <= this.limits.maxEvents, `${events.length} events were held`)
    this.expect(bytes <= this.limits.maxBytes, `${bytes} bytes were held`)
  }

  private event({ seq, msg }: Event): void {
    if (isEphemeral(msg)) this.expect(seq === this.next - 1, `delta ${seq} after ${this.next - 1}`)
    else this.expect(seq === this.next++, `event ${seq}, not ${this.next - 1}`)
    const whole = (text: string, all: string) =>
      this.expect(
        text === all || (!this.live && text === ""),
        `deltas give "${text}", the text is "${all}"`,
      )
    if (msg.type === "agent_message_delta") this.message += msg.delta
    if (msg.type === "agent_reasoning_delta") this.thought += msg.delta
    if (msg.type === "agent_message") whole(this.message, msg.message)
    if (msg.type === "agent_reasoning") whole(this.thought, msg.text)
    if (msg.type === "agent_message" || msg.type === "turn_aborted") this.message = ""
    if (
      msg.type === "agent_reasoning" ||
      msg.type === "agent_reasoning_section_break" ||
      msg.type === "turn_aborted"
    ) {
      this.thought = ""
    }
  }

  /** The received parts of the texts in progress. */
  get texts() {
    return [this.message, this.thought]
  }
}

/** Plays the scenario, reads to the end and returns the first problem, if any. */
const play = ({ before, steps, maxEvents, maxBytes, skip }: Scenario): string | undefined => {
  const writer = new Writer()
  for (const step of before) writer.write(step)
  writer.publish()
  const limits = { maxEvents, maxBytes }
  const from = Math.min(skip, writer.log.seq)
  const outbox = new Backlog(writer.log, limits, from)
  const reader = new Reader(from, limits)
  for (const step of steps) {
    if (step === "publish") writer.publish(outbox)
    else if (step !== "take") writer.write(step)
    else if (!outbox.isEmpty) reader.read(outbox.take())
  }
  writer.publish(outbox)
  while (!outbox.isEmpty) {
    reader.read(outbox.take())
    if (reader.problem !== undefined) return reader.problem
  }
  const [message, thought] = reader.texts
  return (
    reader.problem ??
    (reader.next === writer.log.seq ? undefined : `ended before ${reader.next}`) ??
    (reader.isLive ? undefined : "ended without synced") ??
    (message === writer.message && thought === writer.thought
      ? undefined
      : `ended with "${message}" and "${thought}"`)
  )
}

const background = (message: string): EventMsg => ({ type: "background_event", message })
const live = (writer: Writer, limits: ListenerLimits) => {
  const outbox = new Backlog(writer.log, limits, writer.log.seq)
  outbox.take()
  return outbox
}
const publish = (writer: Writer, outbox: Backlog, ...messages: ReadonlyArray<EventMsg>) => {
  writer.draft(...messages)
  writer.publish(outbox)
}
const deltaOf = (text: string): EventMsg => ({ type: "agent_message_delta", delta: text })

describe("SubscribedListener", () => {
  it.effect("L4 L6 shows every event once and in order, whole texts, within its limits", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        scenario,
        (value) => {
          const problem = play(value)
          return problem === undefined ? true : Effect.fail(problem)
        },
        { runs: 4000, seed: 1, size: 60 },
      )
      assert.strictEqual(Arbitrary.formatCheckFailure(result), undefined)
    }),
  )

  it("L4 replays in pieces and syncs once at the end", () => {
    const writer = new Writer()
    writer.append(...Array.from({ length: 600 }, (_, i) => background(`${i}`)), deltaOf("par"))
    const outbox = new Backlog(writer.log, { maxEvents: 10, maxBytes: 10 }, 0)
    const takes = []
    while (!outbox.isEmpty) takes.push(outbox.take())
    assert.deepStrictEqual(
      takes.map((take) => take.length),
      [256, 256, 90],
    )
    assert.deepStrictEqual(takes.at(-1)?.slice(-2), [
      { _tag: "Event", atMs: 0, event: { seq: 599, id: "t", msg: deltaOf("par") } },
      { _tag: "Synced", seq: 600 },
    ])
    assert.deepStrictEqual(
      durableOf(takes.flat()).map(({ seq }) => seq),
      Array.from({ length: 600 }, (_, i) => i),
    )
  })

  it("L6 says once that it lagged, and from where", () => {
    const writer = new Writer()
    writer.append(background("0"))
    const outbox = live(writer, { maxEvents: 2, maxBytes: 100 })
    for (let i = 1; i < 10; i++) publish(writer, outbox, background(`${i}`))
    const deliveries = outbox.take()
    assert.deepStrictEqual(
      [deliveries[0], deliveries.at(-1), deliveries.length],
      [{ _tag: "Lagged", from: 1 }, { _tag: "Synced", seq: 10 }, 11],
    )
    assert.isTrue(outbox.isEmpty)
  })

  it("L6 says so once also when the replay after it arrives in pieces", () => {
    const writer = new Writer()
    const outbox = live(writer, { maxEvents: 2, maxBytes: 100 })
    publish(writer, outbox, ...Array.from({ length: 300 }, (_, i) => background(`${i}`)))
    const takes = []
    while (!outbox.isEmpty) takes.push(outbox.take())
    assert.deepStrictEqual(
      takes.map((take) => [take[0]?._tag, take.at(-1)?._tag, take.length]),
      [
        ["Lagged", "Event", 257],
        ["Event", "Synced", 45],
      ],
    )
  })

  it("L6 never lags while it keeps up", () => {
    const writer = new Writer()
    writer.append(background("0"))
    const outbox = live(writer, { maxEvents: 1, maxBytes: 3 })
    for (let i = 0; i < 50; i++) {
      publish(writer, outbox, i % 2 === 0 ? deltaOf("abc") : background("n"))
      assert.deepStrictEqual(
        outbox.take().map(({ _tag }) => _tag),
        ["Event"],
      )
    }
  })

  it("L4 repeats no event when what it could not hold began with an empty delta", () => {
    const writer = new Writer()
    writer.append(background("0"))
    const outbox = live(writer, { maxEvents: 1, maxBytes: 100 })
    publish(writer, outbox, deltaOf(""), background("1"))
    assert.deepStrictEqual(outbox.take(), [
      { _tag: "Lagged", from: 1 },
      { _tag: "Event", atMs: 0, event: { seq: 1, id: "t", msg: background("1") } },
      { _tag: "Event", atMs: 0, event: { seq: 1, id: "t", msg: deltaOf("") } },
      { _tag: "Synced", seq: 2 },
    ])
  })

  it("L6 counts what command output holds like other deltas", () => {
    const writer = new Writer()
    writer.append(background("0"))
    const outbox = live(writer, { maxEvents: 100, maxBytes: 5 })
    const chunk: EventMsg = {
      type: "exec_command_output_delta",
      call_id: "c",
      stream: "stdout",
      chunk: "YWJj",
    }
    publish(writer, outbox, chunk)
    assert.deepStrictEqual(eventsOf(outbox.take()).length, 1)
    publish(writer, outbox, chunk, chunk)
    assert.deepStrictEqual(outbox.take(), [
      { _tag: "Lagged", from: 1 },
      { _tag: "Synced", seq: 1 },
    ])
  })

  it("L6 joins the deltas of one text once 128 events are unread, and no others", () => {
    const writer = new Writer()
    writer.append(background("0"))
    const outbox = live(writer, { maxEvents: 135, maxBytes: 10_000 })
    for (let i = 0; i < 1000; i++) publish(writer, outbox, deltaOf("x"))
    publish(writer, outbox, { type: "agent_reasoning_delta", delta: "y" }, deltaOf("z"))
    const events = eventsOf(outbox.take())
    assert.deepStrictEqual(
      events.slice(126).map(({ msg }) => msg),
      [
        deltaOf("x"),
        deltaOf("x".repeat(873)),
        { type: "agent_reasoning_delta", delta: "y" },
        deltaOf("z"),
      ],
    )
  })

  it("replays everything to one that asks for events from before the first", () => {
    const writer = new Writer()
    writer.append(background("0"), background("1"))
    const outbox = new Backlog(writer.log, { maxEvents: 10, maxBytes: 10 }, -5)
    assert.deepStrictEqual(
      durableOf(outbox.take()).map(({ seq }) => seq),
      [0, 1],
    )
    assert.isTrue(outbox.isEmpty)
  })
})
