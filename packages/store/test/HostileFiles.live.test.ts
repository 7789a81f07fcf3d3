import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { MessageHistory } from "../src/MessageHistory.ts"
import * as NodeHistory from "../src/node/NodeHistory.ts"
import * as NodeIndex from "../src/node/NodeIndex.ts"
import { readFile } from "../src/node/ReadFile.ts"
import { RolloutIndex } from "../src/RolloutIndex.ts"
import { idOf, metaOf } from "./support/Records.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => FS.mkdtempSync(join(tmpdir(), "colloquy-hostile-"))),
  (path) => Effect.sync(() => FS.rmSync(path, { recursive: true, maxRetries: 10, force: true })),
)

const pipe = (path: string): string => {
  execFileSync("mkfifo", [path])
  return path
}

describe("another kind of file at the path of a store's file", () => {
  it.live("L13 a pipe, a device, a directory and an endless file are refused immediately", () =>
    Effect.gen(function* () {
      const home = yield* directory
      const plain = join(home, "plain")
      FS.writeFileSync(plain, "0123456789")
      assert.strictEqual(new TextDecoder().decode(readFile(plain, 10)), "0123456789")
      assert.throws(() => readFile(plain, 9), "has 10 bytes, expected at most 9")
      assert.throws(() => readFile(pipe(join(home, "pipe")), 10), "is not a regular file")
      assert.throws(() => readFile("/dev/zero", 10), "is not a regular file")
      assert.throws(() => readFile(home, 10))
      // Reports a size of 0 and returns many bytes.
      assert.throws(
        () => readFile("/proc/self/smaps", 4096),
        "has more than 4096 bytes, expected at most 4096",
      )
    }),
  )

  it.live("L13 a pipe at the path of the message history causes a fault and blocks nothing", () =>
    Effect.gen(function* () {
      const home = yield* directory
      pipe(join(home, "history.jsonl"))
      const { appended, metadata } = yield* Effect.gen(function* () {
        const history = yield* MessageHistory
        return {
          appended: yield* Effect.flip(history.append("id", "hello")),
          metadata: yield* Effect.flip(history.metadata),
        }
      }).pipe(Effect.provide(NodeHistory.layer(home)))
      assert.match(metadata.message, /history\.jsonl: EINVAL/)
      assert.match(appended.message, /history\.jsonl: E(INVAL|NXIO)/)
    }),
  )

  it.live("L13 records of damaged files outlive a process, and refer to rollout files only", () =>
    Effect.gen(function* () {
      const path = join(yield* directory, "index.sqlite")
      const fileOf = (number: number) =>
        `archived_sessions/rollout-2025-09-20T08-11-12-${idOf(number)}.jsonl`
      const [one, two] = [fileOf(1), fileOf(2)]
      const use = <A, E>(run: (index: RolloutIndex["Service"]) => Effect.Effect<A, E>) =>
        Effect.flatMap(RolloutIndex, run).pipe(
          Effect.provide(Layer.fresh(NodeIndex.layer(path))),
          Effect.scoped,
        )
      yield* use((index) => index.putDamaged([one, two, one]))
      assert.sameMembers([...(yield* use((index) => index.damaged))], [one, two])
      yield* use((index) => index.removeDamaged([two]))
      assert.deepStrictEqual(yield* use((index) => index.damaged), [one])
      const other = new DatabaseSync(path)
      other.exec("UPDATE damaged SET folder = '../..'")
      other.close()
      assert.isTrue((yield* Effect.flip(use((index) => index.damaged))).damaged)
    }),
  )

  it.live("L13 a row with unexpected values causes the index to be rebuilt", () =>
    Effect.gen(function* () {
      const path = join(yield* directory, "index.sqlite")
      const row = {
        meta: metaOf(1),
        path: `archived_sessions/rollout-2025-09-20T08-11-12-${idOf(1)}.jsonl`,
        updatedAtMs: 1,
        archived: true,
        version: { bytes: 1, modifiedMs: 1, identity: "1" },
      }
      for (const change of [
        "meta = 'null'",
        `meta = '{"id":1}'`,
        "folder = '../..'",
        "name = 'auth.json'",
      ]) {
        const fault = yield* Effect.gen(function* () {
          const index = yield* RolloutIndex
          yield* index.put([row])
          const other = new DatabaseSync(path)
          other.exec(`UPDATE conversations SET ${change}`)
          other.close()
          return yield* Effect.flip(index.get(idOf(1)))
        }).pipe(Effect.provide(NodeIndex.layer(path)))
        assert.isTrue(fault.damaged, change)
      }
    }),
  )
})
