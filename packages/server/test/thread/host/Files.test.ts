import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import {
  FileFailed,
  FilePort,
  type Files,
  noFiles,
} from "../../../src/thread/host/ports/FilePort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { told, withThreads } from "../../support/Threading.ts"

const calls = () => {
  const made: Array<unknown> = []
  const record = (...call: ReadonlyArray<unknown>) =>
    Effect.sync(() => {
      made.push(call)
    })
  const files: Files = {
    ...noFiles,
    read: () => Effect.succeed(new TextEncoder().encode("hello\n")),
    write: (path, bytes) => record("write", path, new TextDecoder().decode(bytes)),
    describe: () =>
      Effect.succeed({
        isDirectory: false,
        isFile: true,
        isSymlink: false,
        sizeBytes: 6,
        createdAtMs: 1,
        modifiedAtMs: 2,
      }),
    list: () => Effect.succeed([{ fileName: "a", isDirectory: true, isFile: false }]),
    createDirectory: (path, options) => record("createDirectory", path, options),
    copy: (from, to, options) => record("copy", from, to, options),
    remove: (path, options) => record("remove", path, options),
  }
  return { files, made }
}

describe("fs/*", () => {
  it.effect("reads, describes and lists", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const ask = (id: number, method: string) =>
          Effect.map(app.ask(id, method, { path: "/a" }), resultOf)
        assert.deepStrictEqual(yield* ask(1, "fs/readFile"), { dataBase64: "aGVsbG8K" })
        assert.deepStrictEqual(yield* ask(2, "fs/getMetadata"), {
          isDirectory: false,
          isFile: true,
          isSymlink: false,
          size: 6,
          createdAtMs: 1,
          modifiedAtMs: 2,
        })
        assert.deepStrictEqual(yield* ask(3, "fs/readDirectory"), {
          entries: [{ fileName: "a", isDirectory: true, isFile: false }],
        })
      }),
    ).pipe(Effect.provideService(FilePort, calls().files)),
  )

  it.effect("writes with the defaults of the original", () => {
    const { files, made } = calls()
    return withThreads({}, (app) =>
      Effect.gen(function* () {
        yield* app.ask(1, "fs/writeFile", { path: "/a", dataBase64: "aGVsbG8K" })
        yield* app.ask(2, "fs/createDirectory", { path: "/d" })
        yield* app.ask(3, "fs/copy", { sourcePath: "/a", destinationPath: "/b" })
        yield* app.ask(4, "fs/remove", { path: "/d", force: false })
        assert.deepStrictEqual(made, [
          ["write", "/a", "hello\n"],
          ["createDirectory", "/d", { recursive: true }],
          ["copy", "/a", "/b", { recursive: false }],
          ["remove", "/d", { recursive: true, force: false }],
        ])
      }),
    ).pipe(Effect.provideService(FilePort, files))
  })

  it.effect("refuses relative paths and bad base64 by the name of the member", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const cases = [
          ["fs/readFile", { path: "a" }, "path"],
          ["fs/getMetadata", { path: "a" }, "path"],
          ["fs/readDirectory", { path: "a" }, "path"],
          ["fs/writeFile", { path: "a", dataBase64: "" }, "path"],
          ["fs/writeFile", { path: "/a", dataBase64: "!!" }, "dataBase64"],
          ["fs/createDirectory", { path: "a" }, "path"],
          ["fs/copy", { sourcePath: "/a", destinationPath: "b" }, "destinationPath"],
          ["fs/remove", { path: "a" }, "path"],
          ["fs/watch", { watchId: "w", path: "a" }, "path"],
        ] as const
        for (const [index, [method, params, field]] of cases.entries()) {
          const { message } = errorOf(yield* app.ask(index, method, params))
          assert.include(message, field, method)
        }
      }),
    ).pipe(Effect.provideService(FilePort, calls().files)),
  )

  it.effect("answers with the reason when there are no files", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "fs/readFile", { path: "/a" })), {
          code: -32603,
          message: "access to files is disabled",
        })
      }),
    ),
  )
})

describe("fs/watch", () => {
  it.effect("notifies changes after the response, until fs/unwatch", () =>
    Effect.gen(function* () {
      const changed = yield* Queue.unbounded<ReadonlyArray<string>>()
      const files: Files = {
        ...noFiles,
        watch: (path) =>
          path === "/a"
            ? Effect.succeed({ path: "/real/a", changes: Stream.fromQueue(changed) })
            : Effect.fail(new FileFailed({ message: "nothing there" })),
      }
      yield* withThreads({}, (app) =>
        Effect.gen(function* () {
          const watch = (id: number, path: string, watchId = "w") =>
            app.ask(id, "fs/watch", { watchId, path })
          yield* Queue.offer(changed, ["/real/a"])
          assert.deepStrictEqual(resultOf(yield* watch(1, "/a")), { path: "/real/a" })
          yield* app.quiet
          assert.deepStrictEqual(told(app, "fs/changed"), [
            { watchId: "w", changedPaths: ["/real/a"] },
          ])
          assert.include(errorOf(yield* watch(2, "/a")).message, "duplicate")
          assert.include(errorOf(yield* watch(3, "/b", "x")).message, "nothing there")
          assert.deepStrictEqual(resultOf(yield* app.ask(4, "fs/unwatch", { watchId: "w" })), {})
          yield* Queue.offer(changed, ["/real/a"])
          yield* app.quiet
          assert.lengthOf(told(app, "fs/changed"), 1)
          assert.deepStrictEqual(resultOf(yield* app.ask(5, "fs/unwatch", { watchId: "w" })), {})
        }),
      ).pipe(Effect.provideService(FilePort, files))
    }),
  )

  /** Watches that never change. */
  const watched: Files = {
    ...noFiles,
    watch: (path) => Effect.succeed({ path, changes: Stream.never }),
  }
  const params = { watchId: "w", path: "/a" }
  const request = (id: number, method: string) => ({ jsonrpc: "2.0", id, method, params })

  it.effect("L1 a watch that is ended in the same batch is answered, and its id is free", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        yield* app.send(request(1, "fs/watch"), request(2, "fs/unwatch"))
        yield* app.quiet
        const answered = app.messages.filter(({ id }) => id === 1 || id === 2)
        assert.sameMembers(
          answered.map(({ id }) => id),
          [1, 2],
        )
        assert.deepStrictEqual(resultOf(yield* app.response(2)), {})
        assert.deepStrictEqual(resultOf(yield* app.ask(3, "fs/watch", params)), { path: "/a" })
      }),
    ).pipe(Effect.provideService(FilePort, watched)),
  )
})
