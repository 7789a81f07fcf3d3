/** The deltas of texts: a client that joins them has the text with which the item completes, whatever it missed or got again. */
import type { EventDelivery } from "@colloquy/core/listeners/Delivery"
import { Listeners } from "@colloquy/core/listeners/Listeners"
import { EventLog } from "@colloquy/core/log/EventLog"
import { unfinishedAfter, unfinishedEvents } from "@colloquy/core/log/UnfinishedText"
import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ThreadFold } from "../../src/thread/ThreadFold.ts"
import { DeliveredItems } from "../support/DeliveredItems.ts"

/** `lags`: the listener falls behind, and gets no deltas until it is `synced`. */
type Step = EventMsg | "lags" | "synced"

const started: EventMsg = { type: "task_started", model_context_window: null }
const cut: EventMsg = { type: "stream_error", message: "again" }
const complete: EventMsg = { type: "task_complete", last_agent_message: null }
const sectionBreak: EventMsg = { type: "agent_reasoning_section_break" }
const summary = (delta: string): EventMsg => ({ type: "agent_reasoning_delta", delta })
const summaryDone = (text: string): EventMsg => ({ type: "agent_reasoning", text })
const raw = (delta: string): EventMsg => ({ type: "agent_reasoning_raw_content_delta", delta })
const rawDone = (text: string): EventMsg => ({ type: "agent_reasoning_raw_content", text })
const message = (delta: string): EventMsg => ({ type: "agent_message_delta", delta })
const messageDone = (text: string): EventMsg => ({ type: "agent_message", message: text })
const search: EventMsg = { type: "web_search_begin", call_id: "c" }

const isEvent = (one: Step): one is EventMsg => typeof one !== "string"

type Entered = Effect.Success<ReturnType<Listeners["enter"]>>

/** A listener that has not read two events is behind. */
const limits = { maxEvents: 1, maxBytes: 1000 }

/**
 * One listener of a conversation with one turn: it attaches before the step with that number, and gets what the listener of
 * the core delivers. Each event that is recorded happens a second after the one before.
 */
class Listening {
  readonly client = new DeliveredItems()
  private readonly fold = new ThreadFold()
  private readonly log = new EventLog()
  private readonly listeners = new Listeners(this.log)
  private listener: Entered | undefined
  private readonly joinsAt: number
  private place = 0
  private atMs = 0
  private isBehind = false

  constructor(joinsAt: number) {
    this.joinsAt = joinsAt
  }

  step(one: Step): void {
    if (this.place++ === this.joinsAt) this.join()
    if (one === "lags") this.isBehind = true
    else if (one === "synced") this.sync()
    else this.happens(one)
  }

  /** What no event ends any more completes. */
  abandon(): void {
    this.sync()
    for (const output of this.fold.abandon("the disk is full", this.atMs)) {
      this.client.receive(output)
    }
  }

  private happens(msg: EventMsg): void {
    const isRecorded = !isEphemeral(msg)
    if (isRecorded) this.atMs += 1000
    const seq = isRecorded ? this.log.seq : this.log.seq - 1
    const event: Event = { seq, id: "t", msg }
    this.log.append([event], [this.atMs])
    // A client that joins reads the records; the fold continues with them.
    if (this.listener === undefined && isRecorded) this.fold.step(event, this.atMs)
    this.listeners.publish([event])
    if (!this.isBehind) this.take()
  }

  /** The items that have no end yet. */
  get open(): ReadonlyArray<ThreadItem> {
    return this.fold.open.map(({ item }) => item)
  }

  private join(): void {
    this.client.join(this.open)
    this.listener = Effect.runSync(Effect.orDie(this.listeners.enter({ limits })))
    this.take()
  }

  sync(): void {
    this.isBehind = false
    this.take()
  }

  private take(): void {
    while (this.listener?.isReady === true) {
      for (const delivery of Effect.runSync(Effect.orDie(this.listener.take))) {
        if (delivery._tag === "Lagged") this.fold.resync()
        if (delivery._tag === "Event") this.deliver(delivery)
      }
    }
  }

  private deliver({ atMs, event }: EventDelivery): void {
    for (const output of this.fold.step(event, atMs)) this.client.receive(output)
  }
}

/** The client of a listener of these steps. */
const listening = (steps: ReadonlyArray<Step>, joinsAt = 0): Listening => {
  const listener = new Listening(joinsAt)
  for (const one of steps) listener.step(one)
  listener.sync()
  return listener
}

const readBack = (steps: ReadonlyArray<Step>): ReadonlyArray<ThreadItem> =>
  listening(steps.filter((one) => isEvent(one) && !isEphemeral(one))).client.completed

const shownTexts = (items: ReadonlyArray<ThreadItem>): ReadonlyArray<unknown> =>
  items.flatMap((item): ReadonlyArray<unknown> => {
    if (item.type === "agentMessage") return [item.text]
    return item.type === "reasoning" ? [[item.summary, item.content]] : []
  })

/** What happens, and the texts with which items complete: several times for one that starts again. */
const rows: ReadonlyArray<readonly [string, ReadonlyArray<Step>, ReadonlyArray<unknown>]> = [
  [
    "a section that is sent again completes as it is, and starts again",
    [summary("one"), cut, summary("two"), summaryDone("two")],
    [
      [["one"], []],
      [["two"], []],
    ],
  ],
  [
    "of a section that is sent again with the same beginning the rest is sent",
    [summary("one"), cut, summary("one and"), summary(" two"), summaryDone("one and two")],
    [[["one and two"], []]],
  ],
  [
    "of a section the part is sent that was not received in deltas",
    [summary("on"), summaryDone("one"), raw("r"), rawDone("raw")],
    [[["one"], ["raw"]]],
  ],
  [
    "a section that is recorded with another text starts again",
    [raw("ab"), rawDone("a"), rawDone("b")],
    [
      [[], ["ab"]],
      [[], ["a", "b"]],
    ],
  ],
  [
    "sections that a repeated request does not send again are not in the item that starts again",
    [summary("one"), sectionBreak, summary("two"), cut, summary("three"), summaryDone("three")],
    [
      [["one", "two"], []],
      [["three"], []],
    ],
  ],
  [
    "sections that a repeated request sends again with the same beginning are no reason to start twice",
    [summary("one"), sectionBreak, summary("two"), cut, summary("one"), summaryDone("one")],
    [
      [["one", "two"], []],
      [["one"], []],
    ],
  ],
  [
    "a listener that fell behind is sent the rest of every section",
    [
      summary("o"),
      "lags",
      summary("ne"),
      sectionBreak,
      summary("tw"),
      "synced",
      summary("o"),
      summaryDone("one"),
      summaryDone("two"),
    ] as const,
    [[["one", "two"], []]],
  ],
  [
    "a message is sent again, and the reasoning before it",
    [summary("one"), message("Hi"), cut, summary("two"), summaryDone("two"), message("Ho")],
    [[["one"], []], [["two"], []], "Hi", "Ho"],
  ],
  [
    "a section that is still being received when a call is recorded is not in the item that ends",
    [summary("one"), summaryDone("one"), sectionBreak, summary("two"), search, summaryDone("two")],
    [
      [["one", "two"], []],
      [["one"], []],
      [["two"], []],
    ],
  ],
]

/** The steps of turns: texts that continue each other and texts that do not, each also recorded with another end. */
const steps: ReadonlyArray<Step> = [
  ...["o", "on", "one", "two"].flatMap((text) => [summary(text), summaryDone(text), raw(text)]),
  ...["o", "one", ""].map(rawDone),
  summaryDone(""),
  ...["H", "Hi", "Ho"].flatMap((text) => [message(text), messageDone(text)]),
  search,
  { type: "web_search_end", call_id: "c", query: "q" },
  { type: "token_count", info: null },
  // Twice, so that these are as frequent as the texts.
  ...([cut, sectionBreak, "lags", "synced"] as const).flatMap((one) => [one, one]),
]

const places = Arbitrary.array(Arbitrary.schema(Schema.Literals(steps.map((_, place) => place))), {
  minLength: 4,
  maxLength: 30,
})

/** Every other client is there from the beginning. */
const joining = Arbitrary.schema(Schema.Literals([0, 0, 0, 0, 0, 2, 3, 5, 8, 13]))

const turnWith = (drawn: ReadonlyArray<number>): ReadonlyArray<Step> => [
  started,
  ...drawn.flatMap((place) => steps[place] ?? []),
]

/** The turn with its end: what its texts have left unfinished is recorded before, as in a conversation. */
const ended = (turn: ReadonlyArray<Step>, last: EventMsg): ReadonlyArray<Step> => [
  ...turn,
  ...unfinishedEvents(unfinishedAfter(undefined, "t", turn.filter(isEvent))),
  last,
]

/** What a provider streams of reasoning. */
const thoughts: ReadonlyArray<Step> = [
  ...["o", "ne"].flatMap((text) => [summary(text), raw(text)]),
  ...([sectionBreak, sectionBreak, "lags", "synced"] as const),
]

/** Reasoning whose records are what was streamed. */
const recorded = (drawn: ReadonlyArray<number>): ReadonlyArray<Step> => {
  const streamed = drawn.flatMap((place) => thoughts[place] ?? [])
  const unfinished = unfinishedAfter(undefined, "t", streamed.filter(isEvent))
  return [...streamed, ...unfinishedEvents(unfinished)]
}

const thinking = Arbitrary.array(
  Arbitrary.schema(Schema.Literals(thoughts.map((_, place) => place))),
  { maxLength: 12 },
)

describe("the deltas of items", () => {
  it.each(rows)("%s", (_, some, texts) => {
    const turn = ended([started, ...some], complete)
    assert.deepStrictEqual(shownTexts(listening(turn).client.completed), texts)
  })

  it("an open item has all the text that is recorded or received of it", () => {
    const some = [started, summaryDone("one"), rawDone("r"), summary("tw"), summary("o")]
    assert.deepStrictEqual(shownTexts(listening(some).open), [[["one", "two"], ["r"]]])
  })

  it("nothing ends a text after the listener fell behind: it completes with what was sent", () => {
    const some: ReadonlyArray<Step> = [
      started,
      summary("o"),
      raw("r"),
      message("H"),
      "lags",
      summary("ne"),
      message("i"),
      "synced",
    ]
    const listener = listening(some)
    listener.abandon()
    assert.deepStrictEqual(shownTexts(listener.client.completed), [[["one"], ["r"]], "Hi"])
  })

  it.prop(
    "join to the texts with which items complete, which are read back, also where a listener fell behind or joined late",
    { drawn: places, joinsAt: joining, isAborted: Arbitrary.schema(Schema.Boolean) },
    ({ drawn, isAborted, joinsAt }) => {
      const turn = ended(
        turnWith(drawn),
        isAborted ? { type: "turn_aborted", reason: "interrupted" } : complete,
      )
      const { client } = listening(turn, Math.min(joinsAt, turn.length - 1))
      assert.deepStrictEqual(client.started, [])
      const read = new Map(readBack(turn).map((item) => [item.id, item]))
      const last = new Map(client.completed.map((item) => [item.id, item]))
      for (const [id, item] of last) assert.deepStrictEqual(item, read.get(id))
      if (joinsAt === 0) assert.sameMembers([...last.keys()], [...read.keys()])
    },
    { arbitrary: { runs: 2000 } },
  )

  it.prop(
    "of reasoning that is recorded as it was streamed need no second start, whenever a listener joins or falls behind",
    { first: thinking, second: thinking, joinsAt: Arbitrary.schema(Schema.Int) },
    ({ first, joinsAt, second }) => {
      const turn = [started, ...recorded(first), ...recorded(second), complete]
      const { client } = listening(turn, Math.abs(joinsAt) % turn.length)
      assert.deepStrictEqual(client.completed, readBack(turn).slice(-client.completed.length))
      assert.isAtMost(client.completed.length, 1)
    },
    { arbitrary: { runs: 2000 } },
  )

  it.prop(
    "join to the texts of what a turn leaves open that nothing ends",
    { drawn: places, joinsAt: joining },
    ({ drawn, joinsAt }) => {
      const turn = turnWith(drawn)
      const listener = listening(turn, Math.min(joinsAt, turn.length - 1))
      listener.abandon()
      assert.deepStrictEqual(listener.client.started, [])
    },
    { arbitrary: { runs: 1000 } },
  )

  it.prop(
    "of a turn that was abandoned and goes on join, under the ids with which its items are read back",
    { drawn: places, rest: places },
    ({ drawn, rest }) => {
      const listener = listening(turnWith(drawn))
      listener.abandon()
      // What was not recorded before is lost, and the turn ends with what it leaves open since.
      const later = ended(
        rest.flatMap((place) => steps[place] ?? []),
        complete,
      )
      for (const one of later) listener.step(one)
      listener.sync()
      assert.deepStrictEqual(listener.client.started, [])
      const last = new Map(listener.client.completed.map((item) => [item.id, item]))
      for (const item of readBack([...turnWith(drawn), ...later])) {
        if (item.type === "webSearch") assert.isTrue(last.has(item.id))
        else assert.deepStrictEqual(last.get(item.id), item)
      }
    },
    { arbitrary: { runs: 2000 } },
  )
})
