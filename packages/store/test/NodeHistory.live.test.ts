import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MessageHistory } from "../src/MessageHistory.ts"
import * as NodeHistory from "../src/node/NodeHistory.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => FS.mkdtempSync(join(tmpdir(), "colloquy-history-"))),
  (home) => Effect.sync(() => FS.rmSync(home, { recursive: true, maxRetries: 10, force: true })),
)

describe("history.jsonl", () => {
  it.effect("becomes readable by its owner only, and is identified by its inode", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const path = join(home, "history.jsonl")
      FS.writeFileSync(path, '{"session_id":"old","ts":1,"text":"before"}\n', { mode: 0o644 })
      yield* Effect.gen(function* () {
        const history = yield* MessageHistory
        yield* Effect.forEach(
          Array.from({ length: 20 }, (_, i) => i),
          (i) => history.append("c", `words ${i}`),
          { concurrency: "unbounded" },
        )
        const { entryCount, logId } = yield* history.metadata
        assert.deepStrictEqual([entryCount, logId], [21, FS.statSync(path).ino])
        assert.strictEqual((yield* history.lookup(logId, 0))?.text, "before")
        assert.match((yield* history.lookup(logId, 20))?.text ?? "", /^words \d+$/)
      }).pipe(Effect.provide(NodeHistory.layer(home)))
      assert.strictEqual(FS.statSync(path).mode & 0o777, 0o600)
    }),
  )

  it.effect("begins a new line behind a line that another program did not finish", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const path = join(home, "history.jsonl")
      const whole = '{"session_id":"old","ts":1,"text":"before"}\n'
      for (const [before, torn] of [
        ["", ""],
        [whole, ""],
        [whole, '{"session_id":"old","ts":1,"te'],
        ["", "{"],
      ] as const) {
        FS.writeFileSync(path, before + torn)
        yield* Effect.gen(function* () {
          const history = yield* MessageHistory
          // Longer than what a call passes as separate arguments.
          yield* history.append("c", "x".repeat(300_000))
          yield* history.append("c", "after")
        }).pipe(Effect.provide(NodeHistory.layer(home)))
        const lines = FS.readFileSync(path, "utf8").split("\n")
        const expected = [before.trimEnd(), torn].filter((line) => line !== "")
        assert.deepStrictEqual(lines.slice(0, -3), expected)
        const texts = lines.slice(-3, -1).map((line) => JSON.parse(line).text.length)
        assert.deepStrictEqual([...texts, lines.at(-1)], [300_000, 5, ""])
      }
    }),
  )

  it.effect("is not opened through a link", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      FS.writeFileSync(join(home, "other"), "")
      FS.symlinkSync(join(home, "other"), join(home, "history.jsonl"))
      const error = yield* Effect.flatMap(MessageHistory, (history) =>
        Effect.flip(history.append("c", "t")),
      ).pipe(Effect.provide(NodeHistory.layer(home)))
      assert.include(error.message, "ELOOP")
      assert.strictEqual(FS.readFileSync(join(home, "other"), "utf8"), "")
    }),
  )
})
