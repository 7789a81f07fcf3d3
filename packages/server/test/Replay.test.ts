import * as Script from "@colloquy/testing/ProviderScript"
import * as Lines from "@colloquy/transport-stdio/Lines"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { compare, type Difference } from "./support/Compare.ts"
import { type DifferenceKey, differences } from "./support/differences.ts"
import { explanations } from "./support/Explain.ts"
import { defaultReply, type Harness, withServer } from "./support/Harness.ts"
import { toolsOf } from "./support/RecordedTools.ts"
import * as Recording from "./support/Recording.ts"
import { event, read, type WireMessage } from "./support/Wire.ts"

/** A named difference, and the requests it may show in where it must not in others. */
type Use = DifferenceKey | readonly [DifferenceKey, ...requests: ReadonlyArray<string>]

interface Replay {
  /** What the recording's provider must have said. */
  readonly script: Script.ProviderScript
  readonly uses: ReadonlyArray<Use>
}

const initialize: ReadonlyArray<Use> = ["server-identity", "event-capability"]
const toolsList: ReadonlyArray<Use> = [
  "newer-arguments",
  "reply-keys",
  "closed-arguments",
  "open-config",
  "output-schema",
]
const events: ReadonlyArray<Use> = ["event-thread-id", "session-settings"]
const goodTurn: ReadonlyArray<Use> = [...events, "token-totals", "structured-content"]
const badTurn: ReadonlyArray<Use> = [...events, ["error-result", "2"], ["error-completes", "2"]]

const always =
  (reply: Script.ProviderReply): Script.ProviderScript =>
  () =>
    reply
const answers = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => Script.reply(Script.text(text)))
const usual = always(defaultReply)
/** One tool call each with these ids, then this text. */
const calls = (last: string, ...callIds: ReadonlyArray<string>) => [
  ...callIds.map((callId) => Script.reply(Script.toolCall("shell", {}, callId))),
  Script.reply(Script.text(last)),
]
const question: ReadonlyArray<Use> = [
  ["elicitation-form", "0"],
  ["elicitation-thread-id", "0"],
]
const noModel: Script.ProviderScript = []

const replays: Readonly<Record<string, Replay>> = {
  handshake: {
    script: noModel,
    uses: [
      ...initialize,
      ...toolsList,
      ["unknown-method", "6", "7", "8", "9", "10", "11", "12", "13", "14"],
      ["unknown-tool", "15"],
      ["bad-params", "16", "17"],
    ],
  },
  preinit: { script: usual, uses: [...initialize, ...toolsList, ...goodTurn] },
  double_init: { script: noModel, uses: initialize },
  malformed: {
    script: noModel,
    uses: [
      ...initialize,
      ["bad-message", "null", "86"],
      ["byte-order-mark", "88"],
      ["arguments-shape", "84"],
    ],
  },
  simple: { script: answers("The answer is 42."), uses: [...initialize, ...goodTurn] },
  simple_string_id: { script: answers("string id answer"), uses: [...initialize, ...goodTurn] },
  reply: {
    script: answers("first answer", "second answer", "third answer"),
    uses: [...initialize, ...toolsList, ...goodTurn],
  },
  reply_bad_uuid: { script: noModel, uses: [...initialize, ...toolsList] },
  reply_unknown: {
    script: noModel,
    uses: [...initialize, ...toolsList, ["structured-content", "3", "4"]],
  },
  deltas: {
    script: [
      Script.reply(
        ...["The ", "quick ", "brown ", "fox "].flatMap((piece) => [
          Script.bareDeltas(piece),
          Script.delay("15 millis"),
        ]),
        Script.bareDeltas("jumps."),
        Script.event({
          type: "response.output_item.done",
          item: {
            type: "message",
            role: "assistant",
            content: [{ type: "output_text", text: "The quick brown fox jumps." }],
          },
        }),
      ),
    ],
    uses: [...initialize, ...goodTurn],
  },
  reasoning: {
    script: [
      Script.reply(
        Script.reasoning(["**Thinking** ", "about ", "it"], ["Second ", "part"]),
        Script.text("Reasoned answer."),
      ),
    ],
    uses: [...initialize, ...goodTurn],
  },
  two_messages: {
    script: [Script.reply(Script.text("first message"), Script.text("second message"))],
    uses: [...initialize, ...goodTurn],
  },
  empty_answer: { script: [Script.reply()], uses: [...initialize, ...goodTurn] },
  bad_args: {
    script: usual,
    uses: [
      ...initialize,
      ...goodTurn,
      ["argument-fault", "2", "3", "4", "5", "12"],
      ["unknown-argument", "6", "13"],
    ],
  },
  model_500: {
    script: [Script.status(500), defaultReply],
    uses: [
      ...initialize,
      ...toolsList,
      ...badTurn,
      ["reply-after-error", "4"],
      ["structured-content", "4"],
    ],
  },
  model_429: { script: [Script.tooManyRequests()], uses: [...initialize, ...badTurn] },
  model_drop: {
    script: [Script.reply(Script.bareDeltas("par", "tial"), Script.drop), defaultReply],
    uses: [
      ...initialize,
      ...toolsList,
      ...badTurn,
      ["reply-after-error", "4"],
      ["structured-content", "4"],
    ],
  },
  two_concurrent: {
    script: Script.byLastUserText([
      ["QQ-A", Script.reply(Script.deltas("A1 ", "2 ", "3"))],
      ["QQ-B", Script.reply(Script.deltas("B1 ", "2 ", "3"))],
    ]),
    uses: [...initialize, ...goodTurn],
  },
  requests_during_turn: {
    script: Script.byLastUserText([
      ["hang", Script.reply(Script.bareDeltas("x"), Script.hang)],
      ["", defaultReply],
    ]),
    uses: [...initialize, ...toolsList, ...goodTurn, ["end-of-input", "2"]],
  },
}

/** Questions to a person; the tools are stand-ins. */
const questions: Readonly<Record<string, Replay>> = {
  approve: {
    script: calls("done", "call_00001l"),
    uses: [...initialize, ...goodTurn, ...question],
  },
  deny: {
    script: calls("ok, not done", "call_00001t"),
    uses: [...initialize, ...goodTurn, ...question],
  },
  abort: {
    script: [...calls("", "call_000021").slice(0, 1), defaultReply],
    uses: [
      ...initialize,
      ...toolsList,
      ...goodTurn,
      ...question,
      ["abort-answered", "2"],
      ["stopped-tokens", "2"],
      ["events-of-next-call", "2", "4"],
    ],
  },
  approve_for_session: {
    script: [
      ...calls("done twice", "call_000026", "call_000029"),
      ...calls("done thrice", "call_00002e"),
    ],
    uses: [...initialize, ...toolsList, ...goodTurn, ...question],
  },
  approve_malformed: {
    script: calls("after malformed", "call_00002j"),
    uses: [...initialize, ...goodTurn, ...question],
  },
  approve_error: {
    script: calls("after error", "call_000038"),
    uses: [...initialize, ...events, ...question, ["error-denies", "2"]],
  },
  approve_spec_accept: {
    script: calls("after accept", "call_00002o"),
    uses: [...initialize, ...goodTurn, ...question, ["plain-accept", "2"]],
  },
  approve_no_elicitation_capability: {
    script: calls("done", "call_00003e"),
    uses: [...initialize, ...goodTurn, ["not-asked", "0", "2"]],
  },
  on_request_escalated: {
    script: calls("done", "call_000049"),
    uses: [...initialize, ...goodTurn, ...question, ["command-reason", "0"]],
  },
}

const all = { ...replays, ...questions }

/** Conversation ids of a side by the request that made them. */
const conversations = (messages: ReadonlyArray<WireMessage>): ReadonlyMap<string, string> =>
  new Map(
    messages.flatMap((message): ReadonlyArray<readonly [string, string]> => {
      if (message.method !== "codex/event") return []
      const { _meta, msg } = event(message)
      return msg.type === "session_configured"
        ? [[JSON.stringify(_meta?.["requestId"]), String(msg["session_id"])]]
        : []
    }),
  )

/** The texts with each conversation's id replaced by the request that made it. */
const named = (texts: ReadonlyArray<string>): ReadonlyArray<WireMessage> => {
  const ids = [...conversations(texts.map(read))]
  return texts.map((text) =>
    read(
      ids.reduce(
        (rest, [request, id]) =>
          rest.replaceAll(id, `<conversation of ${request.replaceAll('"', "")}>`),
        text,
      ),
    ),
  )
}

/** The recorded text with our ids in the place of the original's. */
const ours = (text: string, recorded: ReadonlyArray<WireMessage>, harness: Harness) => {
  const mine = conversations(harness.messages)
  return [...conversations(recorded)].reduce(
    (rest, [request, id]) => rest.replaceAll(id, mine.get(request) ?? id),
    text,
  )
}

/** Plays the client's part of a recording over the line reader of stdio and gives what the server sent. */
const play = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Recording.Entry>,
  harness: Harness,
) {
  const recorded = entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.message] : []))
  const lines = Lines.make()
  let before: Recording.Entry["dir"] = "note"
  for (const entry of entries) {
    // The recording's client waited for what came in between, also for what never came.
    if (entry.dir === "c2s" && before !== "c2s") {
      yield* harness.quiet
      yield* TestClock.adjust("100 millis")
      yield* harness.quiet
    }
    before = entry.dir
    if (entry.dir !== "c2s") continue
    const bytes = new TextEncoder().encode(`${ours(entry.text, recorded, harness)}\n`)
    yield* Effect.forEach(lines.push(bytes), harness.connection.inject)
  }
  yield* harness.quiet
  yield* TestClock.adjust("100 millis")
  yield* harness.quiet
  yield* harness.connection.close
  yield* harness.quiet
  yield* TestClock.adjust("5 seconds")
  yield* Fiber.join(harness.server)
})

const keyOf = (use: Use): DifferenceKey => (typeof use === "string" ? use : use[0])

const allows = (use: Use, difference: Difference): boolean =>
  (typeof use === "string" || use.slice(1).includes(difference.request)) &&
  explanations[keyOf(use)](difference)

const usedKeys = new Set(
  Object.values(all).flatMap(({ uses }) => uses.map((use): string => keyOf(use))),
)

describe("Replays of the original 0.29", () => {
  it("covers every copied recording", () => {
    assert.deepStrictEqual(Object.keys(all).toSorted(), [...Recording.names].toSorted())
  })

  it("every difference in the table is shown by a replay", () => {
    assert.deepStrictEqual(
      differences.map(({ key }) => key).filter((key) => !usedKeys.has(key)),
      [],
    )
  })

  it.effect.each(Object.entries(all))(
    "%s differs in nothing but what is named",
    ([name, replay]) => {
      const entries = Recording.load(name)
      return withServer(
        { script: replay.script, version: "1.2.3", tools: toolsOf(entries) },
        (harness) =>
          Effect.gen(function* () {
            yield* play(entries, harness)
            const found = compare(
              named(entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.text] : []))),
              named(harness.texts),
            )
            assert.deepStrictEqual(
              found.filter((difference) => !replay.uses.some((use) => allows(use, difference))),
              [],
              "differences that have no name",
            )
            assert.deepStrictEqual(
              replay.uses.filter((use) => !found.some((difference) => allows(use, difference))),
              [],
              "named differences that did not show",
            )
          }),
      )
    },
  )
})
