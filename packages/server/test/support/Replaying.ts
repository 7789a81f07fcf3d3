/** Plays the client's part of a recording against a server in memory and holds what it sent to what the original sent. */
import type { ConversationStore } from "@colloquy/core/store/ConversationStore"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { ProviderScript } from "@colloquy/testing/ProviderScript"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { compare, type Difference } from "./Compare.ts"
import { settingsWith, withServer } from "./Harness.ts"
import { play } from "./Playing.ts"
import { type Otherwise, toolsOf } from "./RecordedTools.ts"
import type * as Recording from "./Recording.ts"
import { event, read, type WireMessage } from "./Wire.ts"

/** A named difference, and the requests it may show in where it must not in others. */
export type Use<Key extends string> = Key | readonly [Key, ...requests: ReadonlyArray<string>]

export interface Replay<Key extends string> {
  /** What the recording's provider must have said. */
  readonly script: ProviderScript
  readonly uses: ReadonlyArray<Use<Key>>
  readonly tools?: Otherwise
  /** Of the recording's `config.toml`. Default: its model and provider alone. */
  readonly settings?: Layer.Layer<SettingsResolver>
  /** Default: one without files. */
  readonly store?: Layer.Layer<ConversationStore>
}

/** Files are named by the time they were made. */
const timeOfFile =
  /(?<=\/state\/sessions\/)(?:\d+\/)*(rollout-)(?:[\dT-]{20})?(?=[0-9a-f-]{36}\.jsonl)/g

export type Explanations<Key extends string> = Readonly<
  Record<Key, (difference: Difference) => boolean>
>

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
        text.replaceAll(timeOfFile, "$1"),
      ),
    ),
  )
}

export const keyOf = <Key extends string>(use: Use<Key>): Key =>
  typeof use === "string" ? use : use[0]

/** Every difference between what the original and we send. */
const found = (
  entries: ReadonlyArray<Recording.Entry>,
  replay: Replay<string>,
): Effect.Effect<ReadonlyArray<Difference>, ConnectionClosed> =>
  withServer(
    {
      script: replay.script,
      version: "1.2.3",
      tools: toolsOf(entries, replay.tools),
      settings: replay.settings ?? settingsWith({}),
      ...(replay.store === undefined ? {} : { store: replay.store }),
    },
    (harness) =>
      Effect.map(play(entries, harness, conversations), () =>
        compare(
          named(entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.text] : []))),
          named(harness.texts),
        ),
      ),
  )

/** Fails on a difference that has no name, and on a name whose difference did not show. */
export const check = <Key extends string>(
  entries: ReadonlyArray<Recording.Entry>,
  replay: Replay<Key>,
  explanations: Explanations<Key>,
): Effect.Effect<void, ConnectionClosed> => {
  const allows = (use: Use<Key>, difference: Difference): boolean =>
    (typeof use === "string" || use.slice(1).includes(difference.request)) &&
    explanations[keyOf(use)](difference)
  return Effect.map(found(entries, replay), (differences) => {
    assert.deepStrictEqual(
      differences.filter((difference) => !replay.uses.some((use) => allows(use, difference))),
      [],
      "differences that have no name",
    )
    assert.deepStrictEqual(
      replay.uses.filter((use) => !differences.some((difference) => allows(use, difference))),
      [],
      "named differences that did not show",
    )
  })
}
