import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { loadOrCreate } from "../../src/auth/TokenFile.ts"

const withFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "colloquy-token-"))),
    body,
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
  )

describe("the token file", () => {
  it.live("is made once, for its user alone, also by servers that start at once", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const path = join(folder, "state", "http-token")
        const all = yield* Effect.forEach([1, 2, 3, 4], () => loadOrCreate(path), {
          concurrency: "unbounded",
        })
        assert.lengthOf(new Set(all.map(({ token }) => token)), 1)
        assert.lengthOf(
          all.filter(({ isNew }) => isNew),
          1,
        )
        assert.strictEqual((yield* loadOrCreate(path)).isNew, false)
        const { mode } = yield* Effect.promise(() => stat(path))
        assert.strictEqual(mode & 0o777, 0o600)
        const left = yield* Effect.promise(() => readdir(join(folder, "state")))
        assert.deepStrictEqual(left, ["http-token"])
      }),
    ),
  )

  it.live("is closed to others when it is read, and refused when it has no token", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const path = join(folder, "token")
        yield* Effect.promise(() => writeFile(path, "x".repeat(40), { mode: 0o644 }))
        assert.strictEqual((yield* loadOrCreate(path)).token, "x".repeat(40))
        assert.strictEqual((yield* Effect.promise(() => stat(path))).mode & 0o777, 0o600)
        yield* Effect.promise(() => writeFile(path, "short"))
        const error = yield* Effect.flip(loadOrCreate(path))
        assert.include(error.message, "expected at least 32")
      }),
    ),
  )
})
