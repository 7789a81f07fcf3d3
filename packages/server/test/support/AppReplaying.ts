/** Replays the client's messages of an app-server recording and compares the server's messages with the original's. */
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { ProviderScript } from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as AppServer from "../../src/AppServer.ts"
import { type Ports, withApp } from "./AppHarness.ts"
import { compare, type Mismatch } from "./Compare.ts"
import { settingsWith } from "./Harness.ts"
import * as PathStore from "./PathStore.ts"
import { play } from "./Playing.ts"
import { toolsOf } from "./RecordedTools.ts"
import type * as Recording from "./Recording.ts"
import { read, type WireMessage } from "./Wire.ts"

export interface AppReplay {
  /** What the recording's provider must have said. */
  readonly script: ProviderScript
  readonly ports?: Ports
  readonly settings?: Layer.Layer<SettingsResolver>
}

/** The ids that each program chooses, by the request that introduced the id; an id that contains another one comes first. */
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

/** Replaces times, because each program uses its own clock. */
const timeless = (text: string) =>
  text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")

const named = (texts: ReadonlyArray<string>): ReadonlyArray<WireMessage> => {
  const names = [...namesOf(texts.map(read))]
  return texts.map((text) =>
    read(names.reduce((rest, [name, value]) => rest.replaceAll(value, name), timeless(text))),
  )
}

/** Every mismatch between the messages of the original and of Colloquy. */
export const found = (
  version: Recording.Version,
  entries: ReadonlyArray<Recording.Entry>,
  { script, settings = settingsWith({}), ports = {} }: AppReplay,
): Effect.Effect<ReadonlyArray<Mismatch>, ConnectionClosed> =>
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
      Effect.map(play(entries, harness, namesOf), () =>
        compare(
          named(entries.flatMap((entry) => (entry.dir === "s2c" ? [entry.text] : []))),
          named(harness.texts),
        ),
      ),
  )
