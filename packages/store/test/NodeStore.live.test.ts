import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { conformanceCases, type ConformanceSubject } from "../src/Conformance.ts"
import * as NodeStore from "../src/node/NodeStore.ts"
import { typesOf } from "./support/OriginalRollouts.ts"
import { metaOf, firstRecords, turn } from "./support/Records.ts"
import { readAll } from "./support/Machine.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => FS.mkdtempSync(join(tmpdir(), "colloquy-store-"))),
  (home) => Effect.sync(() => FS.rmSync(home, { recursive: true, maxRetries: 10, force: true })),
)

const subject = (home: string): ConformanceSubject => ({
  make: Effect.sync(() => NodeStore.layer({ home: FS.mkdtempSync(join(home, "home-")) })),
  isDurable: true,
})

describe("rollouts over real files", () => {
  for (const { name } of conformanceCases(subject(""))) {
    it.effect(name, () =>
      Effect.flatMap(temporary, (home) => {
        const found = conformanceCases(subject(home)).find((each) => each.name === name)
        return found === undefined ? Effect.die(name) : found.run
      }),
    )
  }

  const meta = metaOf(1)
  const { id } = meta
  const records = [...firstRecords(meta), ...turn(1, "0", "hello")]

  /**
   * Runs with a separate set of leases, which is as close to a separate process as one process can get.
   */
  const run = <A, E>(home: string, use: Effect.Effect<A, E, ConversationStore | Scope.Scope>) =>
    use.pipe(Effect.scoped, Effect.provide(Layer.fresh(NodeStore.layer({ home }))))

  const create = Effect.flatMap(ConversationStore, (store) => store.create(meta, records))

  const filesIn = (home: string): ReadonlyArray<string> =>
    FS.readdirSync(home, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
      .toSorted()

  it.live("L10 L16 a log is closed when the append that runs has ended", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      // Written by a thread: the process goes on meanwhile.
      const long = turn(1, "0", "x".repeat(400_000))
      yield* run(
        home,
        Effect.gen(function* () {
          const store = yield* ConversationStore
          const scope = yield* Scope.make()
          const writer = yield* Scope.provide(store.create(meta, firstRecords(meta)), scope)
          const appending = yield* Effect.forkDetach(writer.append(long, "synced"), {
            startImmediately: true,
          })
          assert.isUndefined(appending.pollUnsafe())
          yield* Scope.close(scope, Exit.void)
          assert.deepStrictEqual(appending.pollUnsafe(), Exit.void)
        }),
      )
      assert.deepStrictEqual(yield* run(home, readAll(id)), [...firstRecords(meta), ...long])
    }),
  )

  it.effect(
    "are where the original keeps them, readable by their owner only, with documented lines",
    () =>
      Effect.gen(function* () {
        const home = yield* temporary
        yield* run(home, create)
        const names = filesIn(home).filter(
          (name) => !name.endsWith("-wal") && !name.endsWith("-shm"),
        )
        assert.deepStrictEqual(
          names.map((name) => name.replaceAll(/\d\d\/rollout.*/g, "…")),
          ["colloquy-store/index.sqlite", "colloquy-store/takers.lock", "sessions/2025/09/…"],
        )
        assert.match(
          names[2] ?? "",
          /^sessions\/2025\/09\/(\d\d)\/rollout-2025-09-\1T\d\d-\d\d-12-[0-9a-f-]{36}\.jsonl$/,
        )
        const file = filesIn(home).find((name) => name.endsWith(".jsonl")) ?? ""
        assert.strictEqual(FS.statSync(join(home, file)).mode & 0o777, 0o600)
        assert.include(typesOf(FS.readFileSync(join(home, file), "utf8")), "session_meta")
      }),
  )

  it.effect("wait for no index when the first is created, and are in the index later", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const inIndex = () => filesIn(home).filter((name) => name.includes("index"))
      const listed = Effect.flatMap(ConversationStore, (store) => store.list({ limit: 5 }))
      yield* run(
        home,
        Effect.gen(function* () {
          yield* create
          assert.deepStrictEqual(inIndex(), [])
          assert.deepStrictEqual(
            (yield* listed).items.map(({ meta: found }) => found.id),
            [id],
          )
          assert.include(inIndex(), "colloquy-store/index.sqlite")
        }),
      )
      const again = yield* run(home, Effect.flip(create))
      assert.strictEqual(again._tag, "StoreError")
    }),
  )

  it.effect("are named in local time, with the offset of the day of their creation", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      yield* Effect.acquireRelease(
        Effect.sync(() => process.env["TZ"]),
        (before) =>
          Effect.sync(() => {
            if (before === undefined) delete process.env["TZ"]
            else process.env["TZ"] = before
          }),
      )
      process.env["TZ"] = "America/New_York"
      const made = (number: number, createdAt: string) => {
        const one = metaOf(number, { createdAtMs: Date.parse(createdAt) })
        return Effect.flatMap(ConversationStore, (store) => store.create(one, firstRecords(one)))
      }
      yield* run(
        home,
        Effect.andThen(made(2, "2025-01-01T02:00:00Z"), made(3, "2025-07-01T02:00:00Z")),
      )
      assert.deepStrictEqual(
        filesIn(home).flatMap(
          (name) => /^sessions\/(.*)-[0-9a-f-]{36}\.jsonl$/.exec(name)?.[1] ?? [],
        ),
        ["2024/12/31/rollout-2024-12-31T21-00-00", "2025/06/30/rollout-2025-06-30T22-00-00"],
      )
    }),
  )

  it.effect("rebuild an index that is missing, garbage, truncated or of another version", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      yield* run(home, create)
      const index = join(home, "colloquy-store/index.sqlite")
      const list = Effect.gen(function* () {
        const store = yield* ConversationStore
        const { items } = yield* store.list({ limit: 10 })
        return items.map((item) => [item.meta.id, item.preview])
      })
      const damages: ReadonlyArray<() => void> = [
        () => FS.rmSync(index),
        () => FS.writeFileSync(index, "garbage ".repeat(1000)),
        () => FS.writeFileSync(index, FS.readFileSync(index).subarray(0, 5000)),
        () => FS.writeFileSync(index, ""),
        () => {
          const bytes = FS.readFileSync(index)
          bytes.fill(0x41, 4096)
          FS.writeFileSync(index, bytes)
        },
      ]
      for (const damage of damages) {
        for (const ending of ["-wal", "-shm"]) FS.rmSync(index + ending, { force: true })
        damage()
        assert.deepStrictEqual(yield* run(home, list), [[id, "hello"]])
        assert.deepStrictEqual(yield* run(home, readAll(id)), records)
      }
    }),
  )

  it.effect("in a read-only directory can be read, and writing fails with the reason", () =>
    Effect.gen(function* () {
      // The superuser may write anywhere.
      if (process.getuid?.() === 0) return
      const home = yield* temporary
      yield* run(home, create)
      FS.chmodSync(home, 0o500)
      const error = yield* Effect.flip(
        run(
          home,
          Effect.flatMap(ConversationStore, (store) => store.open({ id })),
        ),
      )
      FS.chmodSync(home, 0o700)
      assert.strictEqual(error._tag, "StoreError")
    }),
  )
})
