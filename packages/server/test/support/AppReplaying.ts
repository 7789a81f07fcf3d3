/** Plays the client's part of a recording of the app-server and holds what we send to what the original sent. */
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { ProviderScript } from "@colloquy/testing/ProviderScript"
import * as Lines from "@colloquy/transport-stdio/Lines"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as AppServer from "../../src/AppServer.ts"
import { type Ports, withApp } from "./AppHarness.ts"
import { compare, type Difference } from "./Compare.ts"
import { type Harness, settingsWith } from "./Harness.ts"
import * as PathStore from "./PathStore.ts"
import { toolsOf } from "./RecordedTools.ts"
import type * as Recording from "./Recording.ts"
import { read, type WireMessage } from "./Wire.ts"

export interface AppReplay {
  /** What the recording's provider must have said. */
  readonly script: ProviderScript
  readonly ports?: Ports
  readonly settings?: Layer.Layer<SettingsResolver>
}

/** What each side calls by names of its own, by the request that brought the name; what holds another one comes first. */
const members = ["nextCursor", "rolloutPath", "conversationId", "subscriptionId"] as const

const namesOf = (messages: ReadonlyArray<WireMessage>): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const known = new Set<string>()
  for (const member of members) {
    for (const { id, result } of messages) {
      const value = result?.[member]
      if (typeof value !== "string" || known.has(value)) continue
      known.add(value)
      names.set(`<${member} of ${String(id)}>`, value)
    }
  }
  return names
}

/** Times are those of the clock of each side. */
const timeless = (text: string) =>
  text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")

const named = (texts: ReadonlyArray<string>): ReadonlyArray<WireMessage> => {
  const names = [...namesOf(texts.map(read))]
  return texts.map((text) =>
    read(names.reduce((rest, [name, value]) => rest.replaceAll(value, name), timeless(text))),
  )
}

/** The original numbers its questions from 0, we from 1. */
const toOurQuestion = (text: string): string =>
  /^\{"jsonrpc":"2\.0","id":\d+,"(result|error)":/.test(text)
    ? text.replace(/\d+(?=,"(result|error)")/, (id) => String(Number(id) + 1))
    : text

const ours = (text: string, recorded: ReadonlyArray<WireMessage>, { messages }: Harness) => {
  const mine = namesOf(messages)
  return [...namesOf(recorded)].reduce(
    (rest, [name, value]) => rest.replaceAll(value, mine.get(name) ?? value),
    toOurQuestion(text),
  )
}

const play = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Recording.Entry>,
  harness: Harness,
) {
  const recorded = entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.message] : []))
  const lines = Lines.make()
  const settle = Effect.andThen(
    Effect.andThen(harness.quiet, TestClock.adjust("100 millis")),
    harness.quiet,
  )
  let before: Recording.Entry["dir"] = "note"
  for (const entry of entries) {
    // The recording's client waited for what came in between, also for what never came.
    if (entry.dir === "c2s" && before !== "c2s") yield* settle
    before = entry.dir
    if (entry.dir !== "c2s") continue
    const bytes = new TextEncoder().encode(`${ours(entry.text, recorded, harness)}\n`)
    yield* Effect.forEach(lines.push(bytes), harness.connection.inject)
  }
  yield* settle
  yield* harness.connection.close
  for (let i = 0; i < 20; i++) yield* settle
  yield* TestClock.adjust("5 seconds")
  yield* Fiber.join(harness.server)
})

/** Every difference between what the original and we send. */
export const found = (
  version: Recording.Version,
  entries: ReadonlyArray<Recording.Entry>,
  { script, settings = settingsWith({}), ports = {} }: AppReplay,
): Effect.Effect<ReadonlyArray<Difference>, ConnectionClosed> =>
  withApp(
    {
      script,
      settings,
      ports,
      store: PathStore.layer,
      tools: toolsOf(entries),
      initialized: false,
      version: "1.2.3",
      ...(version === "0.45.0" ? {} : { besideMcp: AppServer.beside() }),
    },
    (harness) =>
      Effect.map(play(entries, harness), () =>
        compare(
          named(entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.text] : []))),
          named(harness.texts),
        ),
      ),
  )
