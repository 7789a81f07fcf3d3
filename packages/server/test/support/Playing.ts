/** Plays the client of a recording: sends its messages in the recorded order and at the recorded pace. */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Lines from "@colloquy/transport-stdio/Lines"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Harness } from "./Harness.ts"
import type * as Recording from "./Recording.ts"
import type { WireMessage } from "./Wire.ts"

/** A response to a question of the original as a response to one of Colloquy: the original numbers its questions from 0, Colloquy from 1. */
const toOurQuestion = (text: string): string =>
  /^\{"jsonrpc":"2\.0","id":\d+,"(result|error)":/.test(text)
    ? text.replace(/\d+(?=,"(result|error)")/, (id) => String(Number(id) + 1))
    : text

/** The ids that each program chooses, by the request that caused them. */
type Names = (messages: ReadonlyArray<WireMessage>) => ReadonlyMap<string, string>

/** The recorded text with the original's names replaced by Colloquy's. */
const ours = (
  text: string,
  recorded: ReadonlyMap<string, string>,
  mine: ReadonlyMap<string, string>,
) =>
  [...recorded].reduce(
    (rest, [maker, name]) => rest.replaceAll(name, mine.get(maker) ?? name),
    toOurQuestion(text),
  )

/** Plays the recording over the line reader of stdio until the server ends; the harness then has the messages of the server. */
export const play = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Recording.Entry>,
  harness: Harness,
  namesOf: Names,
): Effect.fn.Return<void, ConnectionClosed> {
  const recorded = namesOf(entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.message] : [])))
  const lines = Lines.make()
  const settle = Effect.andThen(
    Effect.andThen(harness.quiet, TestClock.adjust("100 millis")),
    harness.quiet,
  )
  let before: Recording.Entry["dir"] = "note"
  for (const entry of entries) {
    // The recorded client waited for the messages in between, also for those that never arrived.
    if (entry.dir === "c2s" && before !== "c2s") yield* settle
    before = entry.dir
    if (entry.dir !== "c2s") continue
    const text = ours(entry.text, recorded, namesOf(harness.messages))
    const bytes = new TextEncoder().encode(`${text}\n`)
    yield* Effect.forEach(lines.push(bytes), harness.connection.inject)
  }
  yield* settle
  yield* harness.connection.close
  // In steps, for code that sleeps again after each piece that it reads.
  for (let i = 0; i < 20; i++) yield* settle
  yield* TestClock.adjust("5 seconds")
  yield* Fiber.join(harness.server)
})
