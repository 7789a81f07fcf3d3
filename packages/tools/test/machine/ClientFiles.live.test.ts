import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Fiber from "effect/Fiber"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import * as ClientFiles from "../../src/machine/ClientFiles.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const stage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const root = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
  return { files: yield* ClientFiles.make, fs, root }
})

const live = <A, E>(body: Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.provide(body, NodeServices.layer)

const makePipe = Effect.fnUntraced(function* (path: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  yield* spawner.exitCode(ChildProcess.make("mkfifo", [path]))
})

const faultOf = <A, R>(effect: Effect.Effect<A, ClientFiles.ClientFileFailed, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

describe("ClientFiles", () => {
  it.live("writes, describes, lists, copies and removes", () =>
    live(
      Effect.scoped(
        Effect.gen(function* () {
          const { files, fs, root } = yield* stage
          yield* files.createDirectory(`${root}/d/e`, { recursive: true })
          yield* files.write(`${root}/d/f`, bytes("hello"))
          yield* fs.symlink(`${root}/d/f`, `${root}/d/link`)
          yield* fs.symlink(`${root}/nowhere`, `${root}/d/broken`)
          assert.deepStrictEqual(yield* files.read(`${root}/d/link`), bytes("hello"))
          const { createdAtMs, modifiedAtMs, ...facts } = yield* files.describe(`${root}/d/link`)
          assert.deepStrictEqual(facts, {
            isDirectory: false,
            isFile: true,
            isSymlink: true,
            sizeBytes: 5,
          })
          assert.isAbove(modifiedAtMs, 0)
          assert.isAtLeast(createdAtMs, 0)
          assert.deepStrictEqual(yield* files.list(`${root}/d`), [
            { fileName: "broken", isDirectory: false, isFile: false },
            { fileName: "e", isDirectory: true, isFile: false },
            { fileName: "f", isDirectory: false, isFile: true },
            { fileName: "link", isDirectory: false, isFile: true },
          ])
          yield* fs.remove(`${root}/d/broken`)
          yield* files.copy(`${root}/d`, `${root}/g`, { recursive: true })
          assert.deepStrictEqual(yield* files.read(`${root}/g/f`), bytes("hello"))
          yield* files.remove(`${root}/g`, { recursive: true, force: false })
          yield* files.remove(`${root}/g`, { recursive: true, force: true })
          assert.isFalse(yield* fs.exists(`${root}/g`))
        }),
      ),
    ),
  )

  it.live("says why it refuses", () =>
    live(
      Effect.scoped(
        Effect.gen(function* () {
          const { files, root } = yield* stage
          yield* files.createDirectory(`${root}/d`, { recursive: false })
          assert.include(yield* faultOf(files.read(`${root}/x`)), "No such file or directory")
          assert.include(yield* faultOf(files.read(`${root}/d`)), "expected a regular file")
          assert.include(yield* faultOf(files.read("/dev/zero")), "expected a regular file")
          const copy = (to: string, recursive: boolean) =>
            faultOf(files.copy(`${root}/d`, to, { recursive }))
          assert.include(yield* copy(`${root}/e`, false), "`recursive`: true")
          assert.include(yield* copy(`${root}/d/e`, true), "within the directory")
          const gone = files.remove(`${root}/x`, { recursive: true, force: false })
          assert.include(yield* faultOf(gone), "No such file or directory")
          const root_ = files.remove("/", { recursive: true, force: true })
          assert.include(yield* faultOf(root_), "cannot be removed")
          assert.include(yield* faultOf(files.watch(`${root}/x`)), "No such file or directory")
        }),
      ),
    ),
  )

  it.live("reports the changed entries of a directory", () =>
    live(
      Effect.scoped(
        Effect.gen(function* () {
          const { files, root } = yield* stage
          const { changes, path } = yield* files.watch(root)
          assert.strictEqual(path, root)
          const first = yield* Effect.forkChild(Stream.runHead(changes), {
            startImmediately: true,
          })
          yield* files.write(`${root}/f`, bytes("hello"))
          const batch = yield* Fiber.join(first)
          assert.deepStrictEqual(batch._tag === "Some" ? batch.value : [], [`${root}/f`])
        }),
      ),
    ),
  )

  it.live("does not wait for the reader of a pipe", () =>
    live(
      Effect.scoped(
        Effect.gen(function* () {
          const { files, root } = yield* stage
          const fifo = `${root}/fifo`
          yield* makePipe(fifo)
          yield* files.write(`${root}/f`, bytes("hello"))
          assert.include(yield* faultOf(files.write(fifo, bytes("x"))), "expected a regular file")
          const copy = files.copy(`${root}/f`, fifo, { recursive: false })
          assert.include(yield* faultOf(copy), "expected a regular file")
        }),
      ),
    ),
  )

  it.live("repeats only the beginning of a path that no file can have", () =>
    live(
      Effect.scoped(
        Effect.gen(function* () {
          const { files } = yield* stage
          assert.isBelow((yield* faultOf(files.read("/x".repeat(100_000)))).length, 5000)
        }),
      ),
    ),
  )

  it.live("reports the changes of a file that was replaced", () =>
    live(
      Effect.scoped(
        Effect.gen(function* () {
          const { files, fs, root } = yield* stage
          const path = `${root}/f`
          yield* files.write(path, bytes("1"))
          const { changes } = yield* files.watch(path)
          const next = yield* Stream.toPull(changes)
          const changed = Effect.map(next, (batches) => [...new Set(batches.flat())])
          yield* files.write(`${root}/other`, bytes("2"))
          yield* fs.rename(`${root}/other`, path)
          assert.deepStrictEqual(yield* changed, [path])
          yield* files.write(path, bytes("3"))
          assert.deepStrictEqual(yield* changed, [path])
        }),
      ),
    ),
  )

  it.live.each(["a directory", "a directory and those above it", "a file"])(
    "reports the removal of %s, that it is made anew, and its changes after that",
    (what) =>
      live(
        Effect.scoped(
          Effect.gen(function* () {
            const { files, fs, root } = yield* stage
            const directory = `${root}/one/two`
            const file = `${directory}/f`
            yield* fs.makeDirectory(directory, { recursive: true })
            yield* files.write(file, bytes("1"))
            const watched = what === "a file" ? file : directory
            const { changes } = yield* files.watch(watched)
            const next = yield* Stream.toPull(changes)
            const until = (path: string) =>
              Effect.repeat(next, { until: (batches) => batches.flat().includes(path) })
            const removed = what === "a directory" ? directory : `${root}/one`
            yield* fs.remove(removed, { recursive: true })
            yield* until(watched)
            for (const _ of ["first", "second"]) {
              yield* fs.makeDirectory(directory, { recursive: true })
              yield* until(watched)
              yield* files.write(file, bytes("2"))
              yield* until(file)
              yield* fs.remove(removed, { recursive: true })
              yield* until(watched)
            }
          }),
        ),
      ),
  )
})
