import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ConfigFile from "../../src/config/ConfigFile.ts"

const text = 'model = "one"\n'

/** A state directory with a file that is ten seconds old at `nowMs`. */
const setting = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-config-"))),
    (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, maxRetries: 10 })),
  ),
  (directory) => {
    const file = join(directory, "config.toml")
    Fs.writeFileSync(file, text)
    return { directory, file, nowMs: Math.ceil(Fs.statSync(file).ctimeMs) + 10_000 }
  },
)

const modelOf = (read: Result.Result<ConfigFile.ConfigFile, string>): unknown =>
  Result.isSuccess(read) ? read.success.tree["model"] : read.failure

/** A change of the file, and the model that is read afterwards. */
const changes: ReadonlyArray<readonly [string, (file: string) => void, string | undefined]> = [
  ["another text", (file) => Fs.writeFileSync(file, 'model = "other"\n'), "other"],
  ["a text of the same size", (file) => Fs.writeFileSync(file, 'model = "two"\n'), "two"],
  [
    "a text of the same size and modification time",
    (file) => {
      const { atime, mtime } = Fs.statSync(file)
      Fs.writeFileSync(file, 'model = "two"\n')
      Fs.utimesSync(file, atime, mtime)
    },
    "two",
  ],
  [
    "another file of the same size and times",
    (file) => {
      const { atime, mtime } = Fs.statSync(file)
      Fs.writeFileSync(`${file}.new`, 'model = "two"\n')
      Fs.utimesSync(`${file}.new`, atime, mtime)
      Fs.renameSync(`${file}.new`, file)
    },
    "two",
  ],
  [
    "a link to another file",
    (file) => {
      Fs.writeFileSync(`${file}.target`, 'model = "two"\n')
      Fs.rmSync(file)
      Fs.symlinkSync(`${file}.target`, file)
    },
    "two",
  ],
  ["no file any more", (file) => Fs.rmSync(file), undefined],
]

describe("ConfigFile", () => {
  it.live("an unchanged file is examined and not read again", () =>
    Effect.gen(function* () {
      const { directory, nowMs } = yield* setting
      const first = Result.getOrThrow(ConfigFile.read(directory, undefined, nowMs))
      assert.strictEqual(first.text, text)
      const second = Result.getOrThrow(ConfigFile.read(directory, first, nowMs + 1))
      assert.strictEqual(second, first)
    }).pipe(Effect.scoped),
  )

  it.live("a missing file is not read again until it is there", () =>
    Effect.gen(function* () {
      const { directory, file, nowMs } = yield* setting
      Fs.rmSync(file)
      const first = Result.getOrThrow(ConfigFile.read(directory, undefined, nowMs))
      assert.strictEqual(ConfigFile.read(directory, first, nowMs).pipe(Result.getOrThrow), first)
      Fs.writeFileSync(file, text)
      assert.strictEqual(modelOf(ConfigFile.read(directory, first, nowMs)), "one")
    }).pipe(Effect.scoped),
  )

  it.live.each(changes)("sees %s", ([, change, model]) =>
    Effect.gen(function* () {
      const { directory, file, nowMs } = yield* setting
      const first = Result.getOrThrow(ConfigFile.read(directory, undefined, nowMs))
      // A stamp shows a change that is later than the resolution of the clock of the file system.
      const startedAtMs = Fs.statSync(file).ctimeMs
      do change(file)
      while (Fs.existsSync(file) && Fs.statSync(file).ctimeMs === startedAtMs)
      assert.strictEqual(modelOf(ConfigFile.read(directory, first, nowMs)), model)
    }).pipe(Effect.scoped),
  )

  it.live("reads a file again whose last change is too recent to rely on its times", () =>
    Effect.gen(function* () {
      const { directory, nowMs } = yield* setting
      const recentMs = nowMs - 9000
      const first = Result.getOrThrow(ConfigFile.read(directory, undefined, recentMs))
      const second = Result.getOrThrow(ConfigFile.read(directory, first, recentMs))
      assert.notStrictEqual(second, first)
      assert.strictEqual(second.tree, first.tree)
    }).pipe(Effect.scoped),
  )
})
