/** Plays the client's part of a recording against a server in memory and compares its messages with the original's. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { ProviderScript } from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { compare, type Mismatch } from "./Compare.ts"
import { settingsWith, withServer } from "./Harness.ts"
import { play } from "./Playing.ts"
import { type Otherwise, toolsOf } from "./RecordedTools.ts"
import type * as Recording from "./Recording.ts"
import { event, read, type WireMessage } from "./Wire.ts"

export interface Replay {
  /** What the recording's provider must have said. */
  readonly script: ProviderScript
  readonly tools?: Otherwise
  /** Settings from the `config.toml` of the recording. Default: only its model and provider. */
  readonly settings?: Layer.Layer<SettingsResolver>
  /** The machine. Default: one without files. */
  readonly store?: Layer.Layer<ConversationStore>
}

/** Rollout files are named by the time of their creation. */
const timeOfFile =
  /(?<=\/state\/sessions\/)(?:\d+\/)*(rollout-)(?:[\dT-]{20})?(?=[0-9a-f-]{36}\.jsonl)/g

/** Conversation ids of one program by the request that created them. */
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

/** The mismatches between the messages of the original and of Colloquy in a session. */
export const compared = (
  entries: ReadonlyArray<Recording.Entry>,
  texts: ReadonlyArray<string>,
): ReadonlyArray<Mismatch> =>
  compare(
    named(entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.text] : []))),
    named(texts),
  )

/** Every mismatch between the messages of the original and of Colloquy. */
export const found = (
  entries: ReadonlyArray<Recording.Entry>,
  replay: Replay,
): Effect.Effect<ReadonlyArray<Mismatch>, ConnectionClosed> =>
  withServer(
    {
      script: replay.script,
      version: "1.2.3",
      tools: toolsOf(entries, replay.tools),
      settings: replay.settings ?? settingsWith({}),
      ...(replay.store === undefined ? {} : { store: replay.store }),
    },
    (harness) =>
      Effect.map(play(entries, harness, conversations), () => compared(entries, harness.texts)),
  )
