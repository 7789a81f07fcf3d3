import { assert, describe, it } from "@effect/vitest"
import { replays } from "../../server/test/support/Replayed.ts"
import { threadRecordings } from "../../server/test/support/ThreadRecording.ts"
import * as ExecReplays from "./support/ExecReplays.ts"
import * as HttpReplays from "./support/HttpReplays.ts"

describe("the recordings of the original's version 0.169", () => {
  it("are 72, and each is replayed once", () => {
    const replayed = [
      ...Object.keys(replays["0.169.0"]),
      ...ExecReplays.names,
      HttpReplays.recording,
    ]
    assert.strictEqual(replayed.length, 72)
    assert.deepStrictEqual(
      replayed.toSorted(),
      threadRecordings.map(([name]) => name),
    )
  })
})
