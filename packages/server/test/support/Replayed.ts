/** Replays of all recordings by version and name, each run once per test file. */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as AppReplaying from "./AppReplaying.ts"
import { appReplays } from "./AppReplays.ts"
import type { Mismatch } from "./Compare.ts"
import * as Recording from "./Recording.ts"
import * as Replaying from "./Replaying.ts"
import { replays029 } from "./Replays029.ts"
import { replays153 } from "./Replays153.ts"
import * as ThreadReplaying from "./ThreadReplaying.ts"
import type { ThreadReplay } from "./ThreadReplaying.ts"
import { threadReplays } from "./ThreadReplays.ts"

type Entries = ReadonlyArray<Recording.Entry>

/** The replays of app-server v2: most need nothing but their recordings. */
const threadReplaysByName: Readonly<Record<string, (entries: Entries) => ThreadReplay>> = {
  ...Object.fromEntries(Recording.namesOf("0.169.0").map((name) => [name, () => ({})])),
  ...threadReplays,
}

/** The names of the replays of each version. */
export const replays = {
  "0.29.0": replays029,
  "0.153.4": replays153,
  "0.29.0-app": appReplays,
  "0.45.0": appReplays,
  "0.169.0": threadReplaysByName,
} as const

/** The recordings that are replayed in memory. */
export type Version = keyof typeof replays

const versions = Object.keys(replays) as ReadonlyArray<Version>

/** Every recording, with its version. */
export const recordings: ReadonlyArray<readonly [version: Version, name: string]> =
  versions.flatMap((version) => Recording.namesOf(version).map((name) => [version, name] as const))

const play = (
  version: Version,
  name: string,
): Effect.Effect<ReadonlyArray<Mismatch>, ConnectionClosed> =>
  Effect.suspend(() => {
    const entries = Recording.load(version, name)
    switch (version) {
      case "0.29.0":
      case "0.153.4": {
        const replay = (version === "0.29.0" ? replays029 : replays153)[name]
        return replay === undefined
          ? Effect.die(`no replay of ${name} of ${version}`)
          : Replaying.found(entries, replay)
      }
      case "0.29.0-app":
      case "0.45.0": {
        const replay = appReplays[name]
        return replay === undefined
          ? Effect.die(`no replay of ${name} of ${version}`)
          : AppReplaying.found(version, entries, replay(entries))
      }
      case "0.169.0": {
        const replay = threadReplaysByName[name]
        return replay === undefined
          ? Effect.die(`no replay of ${name} of ${version}`)
          : ThreadReplaying.found(entries, replay(entries))
      }
    }
  })

const known = new Map<string, ReadonlyArray<Mismatch>>()

/** The mismatches of a replay; the first call runs it. */
export const mismatches = (version: Version, name: string) => {
  const key = `${version} ${name}`
  return Effect.suspend(() => {
    const before = known.get(key)
    return before === undefined
      ? Effect.tap(play(version, name), (found) => Effect.sync(() => known.set(key, found)))
      : Effect.succeed(before)
  })
}
