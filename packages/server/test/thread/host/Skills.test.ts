/** `skills/changed`: what is watched after `skills/list`, and who is notified. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import {
  FileFailed,
  FilePort,
  type Files,
  noFiles,
} from "../../../src/thread/host/ports/FilePort.ts"
import { noSkills, SkillPort } from "../../../src/thread/host/ports/SkillPort.ts"
import { hello } from "../../support/AppHarness.ts"
import type { Harness } from "../../support/Harness.ts"
import { told, withThreads } from "../../support/Threading.ts"

/** Directories in memory, and the watches of them. */
const machine = (...paths: ReadonlyArray<string>) => {
  const directories = new Set(["/", ...paths])
  const watching: Array<{ readonly path: string; readonly changes: Queue.Queue<string> }> = []
  let begun = 0
  const files: Files = {
    ...noFiles,
    describe: (path) =>
      directories.has(path)
        ? Effect.succeed({
            isDirectory: true,
            isFile: false,
            isSymlink: false,
            sizeBytes: 0,
            createdAtMs: 0,
            modifiedAtMs: 0,
          })
        : Effect.fail(new FileFailed({ message: "nothing there" })),
    list: (folder) =>
      Effect.sync(() =>
        [...directories].flatMap((path) =>
          path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/")
            ? [{ fileName: path.slice(folder.length + 1), isDirectory: true, isFile: false }]
            : [],
        ),
      ),
    watch: (path) =>
      Effect.acquireRelease(
        Effect.gen(function* () {
          const watch = { path, changes: yield* Queue.unbounded<string>() }
          watching.push(watch)
          begun++
          return watch
        }),
        (watch) => Effect.sync(() => watching.splice(watching.indexOf(watch), 1)),
      ).pipe(
        Effect.map(({ changes }) => ({
          path,
          changes: Stream.map(Stream.fromQueue(changes), (one) => [one]),
        })),
      ),
  }
  const change = (path: string) =>
    Effect.forEach(
      watching.filter((one) => path === one.path || path.startsWith(`${one.path}/`)),
      ({ changes }) => Queue.offer(changes, path),
      { discard: true },
    )
  return {
    files,
    directories,
    change,
    watched: () => watching.map(({ path }) => path).toSorted(),
    begun: () => begun,
  }
}

const skills = {
  ...noSkills,
  folders: (cwd: string) => Effect.succeed(["/home/skills", `${cwd}/.agents/skills`]),
}

const list = (app: Harness, ...cwds: ReadonlyArray<string>) =>
  app.ask(`list ${cwds.join(" ")}`, "skills/list", { cwds })

const count = (app: Harness) => told(app, "skills/changed").length

/** Lets the time pass in which changes are one burst. */
const pass = (app: Harness) =>
  Effect.andThen(app.quiet, Effect.andThen(TestClock.adjust("500 millis"), app.quiet))

const provided =
  ({ files }: ReturnType<typeof machine>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideService(FilePort, files), Effect.provideService(SkillPort, skills))

describe("skills/changed", () => {
  it.effect("goes once per burst to the connections that have listed skills of that place", () => {
    const disk = machine("/home/skills", "/home/skills/mine", "/a", "/a/.agents/skills", "/b")
    return withThreads({}, (app) =>
      Effect.gen(function* () {
        const [second, third] = [yield* app.another, yield* app.another]
        for (const one of [second, third]) yield* hello(one, { experimentalApi: true })
        yield* list(app, "/a")
        yield* list(second, "/b")
        yield* third.ask("hooks", "hooks/list", {})
        yield* pass(app)
        const counts = () => [count(app), count(second), count(third)]
        assert.deepStrictEqual(counts(), [0, 0, 0])

        yield* disk.change("/home/skills/mine/SKILL.md")
        yield* disk.change("/home/skills/mine/notes.md")
        yield* app.quiet
        assert.deepStrictEqual(counts(), [0, 0, 0])
        yield* pass(app)
        yield* pass(app)
        assert.deepStrictEqual(counts(), [1, 1, 0])
        assert.deepStrictEqual(told(app, "skills/changed"), [{}])

        yield* disk.change("/a/.agents/skills/new")
        yield* pass(app)
        assert.deepStrictEqual(counts(), [2, 1, 0])
      }),
    ).pipe(provided(disk))
  })

  it.effect("a skill in a folder that is created later is noticed, and other files are not", () => {
    const disk = machine("/home", "/b")
    return withThreads({}, (app) =>
      Effect.gen(function* () {
        yield* list(app, "/b")
        yield* disk.change("/b/README.md")
        yield* disk.change("/home/config.toml")
        yield* pass(app)
        assert.strictEqual(count(app), 0)

        for (const path of ["/b/.agents", "/b/.agents/skills", "/b/.agents/skills/new"]) {
          disk.directories.add(path)
        }
        yield* disk.change("/b/.agents")
        yield* pass(app)
        assert.strictEqual(count(app), 1)
        assert.deepStrictEqual(disk.watched(), [
          "/b/.agents/skills",
          "/b/.agents/skills/new",
          "/home",
        ])
        yield* disk.change("/b/.agents/skills/new/SKILL.md")
        yield* pass(app)
        assert.strictEqual(count(app), 2)
      }),
    ).pipe(provided(disk))
  })

  it.effect("changes without a pause are reported in between", () => {
    const disk = machine("/home/skills", "/b")
    return withThreads({}, (app) =>
      Effect.gen(function* () {
        yield* list(app, "/b")
        // For 12 seconds, with pauses that are shorter than those between bursts.
        for (let i = 0; i < 40; i++) {
          yield* disk.change("/home/skills/mine")
          yield* app.quiet
          yield* TestClock.adjust("300 millis")
        }
        yield* app.quiet
        assert.isAtLeast(count(app), 1)
        assert.isAtMost(count(app), 3)
      }),
    ).pipe(provided(disk))
  })

  it.effect(
    "a connection has a bounded number of watches, each once, and none after its end",
    () => {
      const many = Array.from({ length: 300 }, (_, i) => `/home/skills/s${i}`)
      const disk = machine("/home/skills", ...many)
      return withThreads({}, (app) =>
        Effect.gen(function* () {
          yield* list(app, "/b")
          assert.lengthOf(disk.watched(), 256)

          assert.strictEqual(new Set(disk.watched()).size, 256)
          yield* app.ask("again", "skills/list", { cwds: ["/b"] })
          assert.strictEqual(disk.begun(), 256)
          yield* app.connection.close
          yield* app.quiet
          assert.deepStrictEqual(disk.watched(), [])
        }),
      ).pipe(provided(disk))
    },
  )

  it.effect("a client that has opted out is not notified", () => {
    const disk = machine("/home/skills")
    return withThreads({ capabilities: { optOutNotificationMethods: ["skills/changed"] } }, (app) =>
      Effect.gen(function* () {
        yield* list(app, "/b")
        yield* disk.change("/home/skills/mine")
        yield* pass(app)
        assert.strictEqual(count(app), 0)
      }),
    ).pipe(provided(disk))
  })
})
