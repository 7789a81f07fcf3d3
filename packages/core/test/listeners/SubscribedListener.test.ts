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

const scenarios = Arbitrary.all({
  steps: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 60 }),
  before: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 8 }),
  maxEvents: Arbitrary.schema(Schema.Literals([1, 2, 3, 5, 1000])),
  maxBytes: Arbitrary.schema(Schema.Literals([1, 3, 8, 1000])),
  skip: Arbitrary.schema(Schema.Literals([0, 0, 1, 2, 5, 100])),
  lacksTexts: Arbitrary.schema(Schema.Boolean),
})
type Scenario = typeof scenarios extends Arbitrary.Arbitrary<infer A> ? A : never

/** The texts that were streamed and are not recorded, of one turn. */
class Texts {
  message = ""
  /** Sections of a summary that breaks have ended. */
  sections: ReadonlyArray<string> = []
  thought = ""

  /** The section that is recorded next. */
  get section(): string {
    return this.sections[0] ?? this.thought
  }

  /** Folds an event of the turn, wherever it comes from. */
  add(msg: EventMsg): void {
    switch (msg.type) {
      case "agent_message_delta":
        this.message += msg.delta
        return
      case "agent_reasoning_delta":
        this.thought += msg.delta
        return
      case "agent_message":
        this.message = ""
        return
      case "agent_reasoning":
        if (this.sections.length === 0) this.thought = ""
        this.sections = this.sections.slice(1)
        return
      case "agent_reasoning_section_break":
        if (this.thought !== "") this.sections = [...this.sections, this.thought]
        this.thought = ""
        return
      case "turn_aborted":
        this.message = ""
        this.sections = []
        this.thought = ""
        return
      default:
    }
  }
}

/** The part of a conversation that a listener sees: the log, and the drafts that the next batch appends to it. */
class Writer {
  readonly log = new EventLog()
  /** What is streamed, with the drafts. */
  readonly texts = new Texts()
  /** All that was published, deltas included. */
  readonly published: Array<Event> = []
  private letters = 0
  private drafts: Array<Draft> = []

  draft(...messages: ReadonlyArray<EventMsg>): void {
    for (const msg of messages) {
      this.drafts.push({ id: "t", msg })
      this.texts.add(msg)
    }
  }

  /** Appends the drafts to the log and publishes them to the listener in one step, as a conversation does. */
  publish(outbox?: Backlog): void {
    const events = numberDrafts(this.log.seq, this.drafts)
    this.drafts = []
    this.log.append(events)
    this.published.push(...events)
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
      case "letter":
        return this.draft({ type: "agent_message_delta", delta: this.letter() })
      case "empty":
        return this.draft({ type: "agent_message_delta", delta: "" })
      case "thought":
        return this.draft({ type: "agent_reasoning_delta", delta: this.letter().toUpperCase() })
      case "message":
        return this.draft(
          { type: "background_event", message: "record" },
          { type: "agent_message", message: this.texts.message },
        )
      case "reasoning":
        return this.draft({ type: "agent_reasoning", text: this.texts.section })
      case "break":
        return this.draft({ type: "agent_reasoning_section_break" })
      case "abort":
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

  constructor(log: EventLog, limits: ListenerLimits, from: number, lacksTexts = false) {
    this.publisher = new Publisher(log)
    this.listener = new SubscribedListener(this.publisher, limits, from, undefined, lacksTexts)
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
  /** What the deltas since the last break, record or repetition give. */
  readonly texts = new Texts()
  private live = false
  /** Number of the last break before the first event, which only a reader gets that has nothing of the texts. */
  private before = -1
  /** True: nothing that was streamed before the first event is known. */
  private readonly lacksTexts: boolean
  private readonly limits: ListenerLimits

  /** @param known the events before the first one to read; deltas of what they do not end come again */
  constructor(known: ReadonlyArray<Event>, lacksTexts: boolean, limits: ListenerLimits) {
    this.next = known.filter(({ msg }) => !isEphemeral(msg)).length
    this.lacksTexts = lacksTexts
    this.limits = limits
    if (!lacksTexts) for (const { msg } of known) this.texts.add(msg)
    this.restart()
  }

  get isLive(): boolean {
    return this.live
  }

  private expect(holds: boolean, problem: string): void {
    if (!holds) this.problem ??= problem
  }

  /** Texts in progress come again from their beginning. */
  private restart(): void {
    this.texts.message = ""
    this.texts.thought = ""
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
          this.restart()
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

  private number({ seq, msg }: Event): void {
    const isEarlier = this.lacksTexts && !this.live && seq < this.next
    if (isEphemeral(msg)) {
      // The text of a section before its break, which is not replayed.
      const isOfSection = isEarlier && msg.type === "agent_reasoning_delta" && seq >= this.before
      this.expect(isOfSection || seq === this.next - 1, `delta ${seq} after ${this.next - 1}`)
    } else if (isEarlier && msg.type === "agent_reasoning_section_break") {
      this.expect(seq > this.before, `break ${seq} after ${this.before}`)
      this.expect(this.texts.thought !== "", `break ${seq} ends no section`)
      this.before = seq
    } else this.expect(seq === this.next++, `event ${seq}, not ${this.next - 1}`)
  }

  private event(event: Event): void {
    this.number(event)
    const { msg } = event
    const whole = (text: string, all: string) =>
      this.expect(
        text === all || (!this.live && text === ""),
        `deltas give "${text}", the text is "${all}"`,
      )
    if (msg.type === "agent_message") whole(this.texts.message, msg.message)
    if (msg.type === "agent_reasoning") whole(this.texts.section, msg.text)
    this.texts.add(msg)
  }
}

/** Plays the scenario, reads to the end and returns the first problem, if any. */
const play = (scenario: Scenario): string | undefined => {
  const { before, lacksTexts, maxBytes, maxEvents, skip, steps } = scenario
  const writer = new Writer()
  for (const step of before) writer.write(step)
  writer.publish()
  const limits = { maxEvents, maxBytes }
  const from = Math.min(skip, writer.log.seq)
  const outbox = new Backlog(writer.log, limits, from, lacksTexts)
  // A delta has the number of the event before it.
  const known = writer.published.filter(({ seq }) => seq < from)
  const reader = new Reader(known, lacksTexts, limits)
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
  const [received, streamed] = [reader.texts, writer.texts].map((texts) => JSON.stringify(texts))
  return (
    reader.problem ??
    (reader.next === writer.log.seq ? undefined : `ended before ${reader.next}`) ??
    (reader.isLive ? undefined : "ended without synced") ??
    (received === streamed ? undefined : `ended with ${received}, not ${streamed}`)
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
        scenarios,
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
