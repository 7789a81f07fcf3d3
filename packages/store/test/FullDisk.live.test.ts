/**
 * Tests with a full disk: a small file system that is mounted for the test, on machines where
 * the tests have the right to mount one.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { eventRecord } from "@colloquy/core/LogRecord"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { spawnSync } from "node:child_process"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeStore from "../src/node/NodeStore.ts"
import { metaOf, firstRecords } from "./support/Records.ts"
import { readAll } from "./support/Machine.ts"

const mounted = (folder: string) =>
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", folder]).status === 0

const canMount = (() => {
  if (process.platform !== "linux") return false
  const folder = FS.mkdtempSync(join(tmpdir(), "colloquy-disk-"))
  const can = mounted(folder)
  if (can) spawnSync("umount", [folder])
  FS.rmdirSync(folder)
  return can
})()

const disk = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = FS.mkdtempSync(join(tmpdir(), "colloquy-disk-"))
    mounted(folder)
    return folder
  }),
  (folder) =>
    Effect.sync(() => {
      spawnSync("umount", ["-l", folder])
      FS.rmdirSync(folder)
    }),
)

const run = <A, E>(home: string, use: Effect.Effect<A, E, ConversationStore | Scope.Scope>) =>
  use.pipe(Effect.scoped, Effect.provide(Layer.fresh(NodeStore.layer({ home }))))

describe.skipIf(!canMount)("a full disk", () => {
  it.live(
    "L10 fails the append that does not fit, keeps all earlier ones, and continues when there is room",
    () =>
      Effect.gen(function* () {
        const home = yield* disk
        const meta = metaOf(1)
        const { id } = meta
        const words = (seq: number) =>
          eventRecord(0, {
            seq,
            id: "0",
            msg: { type: "agent_message", message: `${seq} ${"x".repeat(7000)}` },
          })
        const taken = yield* run(
          home,
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const writer = yield* store.create(meta, firstRecords(meta))
            for (let seq = 1; ; seq++) {
              const exit = yield* Effect.result(writer.append([words(seq)], "synced"))
              if (exit._tag === "Success") continue
              const error = exit.failure
              assert.strictEqual(error._tag === "StoreError" ? error.reason : error._tag, "Full")
              return seq
            }
          }),
        )
        assert.isAbove(taken, 10)
        const kept = [
          ...firstRecords(meta),
          ...Array.from({ length: taken - 1 }, (_, i) => words(i + 1)),
        ]
        assert.deepStrictEqual(yield* run(home, readAll(id)), kept)
        const listed = yield* run(
          home,
          Effect.flatMap(ConversationStore, (store) => store.list({ limit: 5 })),
        )
        assert.deepStrictEqual(
          listed.items.map((item) => item.meta.id),
          [id],
        )
        const refused = yield* run(
          home,
          Effect.flatMap(ConversationStore, (store) =>
            Effect.flip(store.create(metaOf(2), [words(0), words(1)])),
          ),
        )
        assert.strictEqual(refused.reason, "Full")
        spawnSync("mount", ["-o", "remount,size=2m", home])
        yield* run(
          home,
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const { repairs, writer } = yield* store.open({ id })
            assert.deepStrictEqual(repairs, [])
            yield* writer.append([words(taken)], "synced")
          }),
        )
        assert.deepStrictEqual(yield* run(home, readAll(id)), [...kept, words(taken)])
      }),
  )

  it.live("L13 lists every conversation when the index does not fit, whatever room there is", () =>
    Effect.gen(function* () {
      const home = yield* disk
      const metas = [1, 2, 3].map((number) => metaOf(number))
      const create = Effect.flatMap(ConversationStore, (store) =>
        Effect.forEach(metas, (meta) => Effect.scoped(store.create(meta, firstRecords(meta)))),
      )
      yield* run(home, create)
      const list = Effect.flatMap(ConversationStore, (store) => store.list({ limit: 5 }))
      // A folder that changed just now is read again by every list.
      const folders = FS.readdirSync(home, { recursive: true, withFileTypes: true })
      for (const { name, parentPath } of folders.filter((entry) => entry.isDirectory())) {
        FS.utimesSync(join(parentPath, name), 1, 1)
      }
      const filling = join(home, "filling")
      for (let room = 0; room <= 160 * 1024; room += 4096) {
        FS.rmSync(join(home, "colloquy-store"), { recursive: true, force: true })
        const { bavail, bsize } = FS.statfsSync(home)
        FS.writeFileSync(filling, new Uint8Array(Math.max(0, bavail * bsize - room)))
        const { items } = yield* run(home, list)
        assert.strictEqual(items.length, 3, `${room} bytes of room`)
        FS.rmSync(filling)
      }
    }),
  )
})
