import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { isPending, pending } from "./differences/ThreadPending.ts"
import { version } from "./differences/ThreadExplain.ts"
import { replaySuite } from "./support/ReplaySuite.ts"
import * as Replayed from "./support/Replayed.ts"

replaySuite("the app-server v2", [version])

describe("what replays of app-server v2 leave out", () => {
  it.effect.each(pending.flatMap((part) => part.recordings.map((name) => [part, name] as const)))(
    "$0.key is shown by $1",
    ([part, name]) =>
      Effect.map(Replayed.mismatches(version, name), (found) =>
        assert.isNotEmpty(found.filter((one) => isPending(part, version, name, one))),
      ),
  )
})
