import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as SharedWatches from "../../src/machine/SharedWatches.ts"

/** A file system in which every directory is there, and the watches of it that are open. */
const makeDisk = () => {
  const open = new Map<
    string,
    Set<Queue.Queue<FileSystem.WatchEvent, Cause.Done | PlatformError>>
  >()
  let refusal: Error | undefined
  const fs = FileSystem.makeNoop({
    stat: () => Effect.succeed({ type: "Directory" } as FileSystem.File.Info),
    watch: (path, options) =>
      Stream.callback((queue) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            if (refusal !== undefined) throw refusal
            const queues = open.get(path) ?? new Set()
            open.set(path, queues.add(queue))
            options?.onReady?.()
          }),
          () => Effect.sync(() => open.get(path)?.delete(queue)),
        ),
      ),
  })
  return {
    fs,
    watches: (path: string) => open.get(path)?.size ?? 0,
    create: (directory: string, ...names: ReadonlyArray<string>) =>
      Effect.sync(() => {
        for (const queue of open.get(directory) ?? []) {
          for (const path of names) Queue.offerUnsafe(queue, { _tag: "Create", path })
        }
      }),
    refuse: (error: Error | undefined) => {
      refusal = error
    },
  }
}

const every = (path: string) => path

const setUp = Effect.gen(function* () {
  const disk = makeDisk()
  const shared = yield* SharedWatches.make({ fs: disk.fs, paths: yield* Path.Path })
  return { disk, shared }
}).pipe(Effect.provide(Path.layer))

describe("SharedWatches", () => {
  it.effect("watch a directory once for all of its readers, until the last has ended", () =>
    Effect.gen(function* () {
      const { disk, shared } = yield* setUp
      const scopes = [yield* Scope.make(), yield* Scope.make(), yield* Scope.make()]
      const read: Array<ReadonlyArray<string>> = []
      for (const [index, scope] of scopes.entries()) {
        const shown = index === 2 ? (path: string) => (path === "/d/b" ? path : undefined) : every
        const changes = yield* Scope.provide(shared.changes("/d", shown), scope)
        yield* Stream.runForEach(changes, (batch) => Effect.sync(() => read.push(batch))).pipe(
          Effect.forkIn(scope),
        )
      }
      yield* TestClock.adjust(0)
      assert.strictEqual(disk.watches("/d"), 1)
      yield* disk.create("/d", "a", "b", "a")
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(read, [["/d/a", "/d/b"], ["/d/a", "/d/b"], ["/d/b"]])
      for (const [index, scope] of scopes.entries()) {
        assert.strictEqual(disk.watches("/d"), 1, `before the end of ${index}`)
        yield* Scope.close(scope, Exit.void)
      }
      assert.strictEqual(disk.watches("/d"), 0)
    }),
  )

  it.effect("a reader that is slow gets each path once, and delays no other", () =>
    Effect.gen(function* () {
      const { disk, shared } = yield* setUp
      const slow = yield* Stream.toPull(yield* shared.changes("/d", every))
      const quick = yield* Stream.toPull(yield* shared.changes("/d", every))
      for (let times = 0; times < 100; times++) {
        yield* disk.create("/d", "a", `b${times % 2}`)
        yield* TestClock.adjust("50 millis")
        assert.deepStrictEqual(yield* quick, [["/d/a", `/d/b${times % 2}`]])
      }
      assert.deepStrictEqual(yield* slow, [["/d/a", "/d/b0", "/d/b1"]])
    }).pipe(Effect.scoped),
  )

  it.effect("fail where the system has no more watches, and work again when it has", () =>
    Effect.gen(function* () {
      const { disk, shared } = yield* setUp
      disk.refuse(Object.assign(new Error("no space"), { code: "ENOSPC" }))
      const refused = yield* Effect.flip(Effect.scoped(shared.changes("/d", every)))
      assert.deepInclude(refused.reason.cause, { code: "ENOSPC" })
      disk.refuse(undefined)
      const watched = yield* Effect.exit(Effect.scoped(shared.changes("/d", every)))
      assert.isTrue(Exit.isSuccess(watched))
    }),
  )
})
