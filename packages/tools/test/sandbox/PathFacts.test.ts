import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as PathFacts from "../../src/sandbox/PathFacts.ts"

type Entries = Readonly<Record<string, PathFacts.PathLook["type"] | "Hangs">>

const mount = (place: string, type: string) => `1 2 0:1 / ${place} rw - ${type} source rw\n`

const lookOf = (type: PathFacts.PathLook["type"]): PathFacts.PathLook =>
  type === "Missing" || type === "Unknown"
    ? { type }
    : { type, device: 1n, inode: 2n, links: 1n, size: 3n, modifiedNs: 4n, changedNs: 5n }

/** A system with these entries, and the paths that were looked at in each way. */
const system = (entries: Entries, mounts: () => string | undefined) => {
  const seen = { now: Array<string>(), later: Array<string>(), tables: 0 }
  const calls: PathFacts.PathCalls = {
    mounts: () => {
      seen.tables++
      return mounts()
    },
    lookNow: (path) => {
      seen.now.push(path)
      const type = entries[path] ?? "Missing"
      assert.notStrictEqual(type, "Hangs", `the process would hang at ${path}`)
      return lookOf(type === "Hangs" ? "Unknown" : type)
    },
    look: (path) => {
      seen.later.push(path)
      const type = entries[path] ?? "Missing"
      return type === "Hangs" ? Effect.never : Effect.succeed(lookOf(type))
    },
    realPath: (path) => {
      seen.later.push(path)
      return entries[path] === "Hangs" ? Effect.never : Effect.succeed(`/real${path}`)
    },
  }
  return { seen, facts: PathFacts.make(calls) }
}

const local = () => mount("/", "ext4")

describe("PathFacts", () => {
  it.effect("looks synchronously on local file systems, and examines each directory once", () =>
    Effect.gen(function* () {
      const { facts, seen } = system(
        { "/a": "Directory", "/a/b": "Directory", "/a/b/f": "File" },
        local,
      )
      const view = yield* facts.view
      assert.strictEqual((yield* view.lookAt("/a/b/f")).type, "File")
      assert.strictEqual((yield* view.lookAt("/a/b/g")).type, "Missing")
      assert.strictEqual(yield* view.realPath("/a/b/f"), "/a/b/f")
      assert.isUndefined(yield* view.realPath("/a/none"))
      assert.deepStrictEqual(seen.now, ["/a", "/a/b", "/a/b/f", "/a/b/g", "/a/b/f", "/a/none"])
      assert.deepStrictEqual(seen.later, [])
    }),
  )

  it.effect("needs no second look below a directory that is missing", () =>
    Effect.gen(function* () {
      const { facts, seen } = system({ "/a": "Directory" }, local)
      const view = yield* facts.view
      assert.strictEqual(view.lookNow("/a/none/b/c")?.type, "Missing")
      assert.isUndefined(yield* view.realPath("/a/none/b"))
      assert.deepStrictEqual(seen.now, ["/a", "/a/none", "/a/none"])
      assert.deepStrictEqual(seen.later, [])
    }),
  )

  it.effect("L15 examines directories anew after a look that waited", () =>
    Effect.gen(function* () {
      const entries: Record<string, "Directory" | "File" | "Link"> = {
        "/a": "Directory",
        "/a/b": "Directory",
        "/a/b/f": "File",
        "/a/l": "Link",
      }
      const { facts } = system(entries, local)
      const view = yield* facts.view
      assert.strictEqual(view.lookNow("/a/b/f")?.type, "File")
      entries["/a/b"] = "Link"
      yield* view.realPath("/a/l")
      assert.isUndefined(view.lookNow("/a/b/f"))
      entries["/a/b"] = "Directory"
      assert.strictEqual(view.lookNow("/a/b/f")?.type, "File")
      entries["/a/b"] = "Link"
      yield* Effect.flip(view.waiting(Effect.fail("any other look")))
      assert.isUndefined(view.lookNow("/a/b/f"))
    }),
  )

  it.effect.each([
    ["a network file system", "nfs4"],
    ["a file system of another process", "fuse.sshfs"],
    ["a directory that is mounted when it is used", "autofs"],
  ] as const)("never looks synchronously into %s", ([, type]) =>
    Effect.gen(function* () {
      const entries: Entries = { "/a": "Directory", "/a/net": "Hangs", "/a/net/x": "Hangs" }
      const { facts, seen } = system(entries, () => local() + mount("/a/net", type))
      const view = yield* facts.view
      for (const path of ["/a/net", "/a/net/x", "/a/net/x/y"]) {
        assert.isUndefined(view.lookNow(path))
        const waiting = yield* Effect.forkChild(view.lookAt(path))
        yield* Fiber.interrupt(waiting)
      }
      assert.strictEqual((yield* view.lookAt("/a/other")).type, "Missing")
      assert.deepStrictEqual(seen.now, ["/a", "/a/other"])
    }),
  )

  it.effect("a look at a mount that does not respond can be interrupted", () =>
    Effect.gen(function* () {
      const { facts, seen } = system({ "/net": "Hangs" }, () => local() + mount("/net", "nfs"))
      const view = yield* facts.view
      const waiting = yield* Effect.forkChild(view.lookAt("/net"), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(seen.later, ["/net"])
    }),
  )

  it.effect("never follows a link synchronously", () =>
    Effect.gen(function* () {
      const entries: Entries = { "/a": "Directory", "/a/l": "Link", "/a/l/f": "Hangs" }
      const { facts, seen } = system(entries, local)
      const view = yield* facts.view
      assert.isUndefined(view.lookNow("/a/l/f"))
      assert.strictEqual(view.lookNow("/a/l")?.type, "Link")
      assert.strictEqual(yield* view.realPath("/a/l"), "/real/a/l")
      assert.deepStrictEqual(seen.now, ["/a", "/a/l", "/a/l", "/a/l"])
      assert.deepStrictEqual(seen.later, ["/a/l"])
    }),
  )

  it.effect.each(["/a/../b", "/a/./b", "/a//b", "/a/", "a", "", "/"])(
    "looks at the path %j, whose text does not name its directories, asynchronously",
    (path) =>
      Effect.gen(function* () {
        const { facts, seen } = system({ "/a": "Directory" }, local)
        yield* (yield* facts.view).lookAt(path)
        assert.deepStrictEqual(seen, { now: [], later: [path], tables: 1 })
      }),
  )

  it.effect.each([
    ["there is no table of mounts", undefined],
    ["the table cannot be read", "1 2"],
    ["the root is not local", mount("/", "nfs")],
  ] as const)("looks asynchronously where %s", ([, table]) =>
    Effect.gen(function* () {
      const { facts, seen } = system({ "/a": "File" }, () => table)
      assert.strictEqual((yield* (yield* facts.view).lookAt("/a")).type, "File")
      assert.deepStrictEqual(seen, { now: [], later: ["/a"], tables: 1 })
    }),
  )

  it.effect("asks again asynchronously for what cannot be examined", () =>
    Effect.gen(function* () {
      const { facts, seen } = system({ "/a": "Unknown" }, local)
      assert.strictEqual((yield* (yield* facts.view).lookAt("/a")).type, "Unknown")
      assert.deepStrictEqual(seen.later, ["/a"])
    }),
  )

  it.effect("sees a new mount and a directory that became a link in a later view", () =>
    Effect.gen(function* () {
      const entries: Record<string, Entries[string]> = { "/a": "Directory" }
      let table = local()
      const { facts, seen } = system(entries, () => table)
      const lookedAt = Effect.map(facts.view, (view) => view.lookNow("/a/f")?.type)
      assert.strictEqual(yield* lookedAt, "Missing")
      entries["/a"] = "Link"
      assert.isUndefined(yield* lookedAt)
      entries["/a"] = "Directory"
      assert.strictEqual(yield* lookedAt, "Missing")
      assert.strictEqual(seen.tables, 1)
      table += mount("/a", "nfs")
      entries["/a"] = "Hangs"
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* lookedAt)
      assert.strictEqual(seen.tables, 2)
    }),
  )
})
