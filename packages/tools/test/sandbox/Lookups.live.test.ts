import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fs from "node:fs"
import { dirname } from "node:path"
import { findProtectedPaths, resolveRoots } from "../../src/sandbox/FindProtectedPaths.ts"
import { pathCalls } from "../../src/sandbox/NodeFiles.ts"
import * as PathFacts from "../../src/sandbox/PathFacts.ts"
import { CurrentView } from "../../src/sandbox/SymbolicLinks.ts"

const write = (file: string, text: string) => {
  Fs.mkdirSync(dirname(file), { recursive: true })
  Fs.writeFileSync(file, text)
}

const repository = (directory: string) => {
  for (const place of ["hooks", "objects", "refs"]) {
    Fs.mkdirSync(`${directory}/${place}`, { recursive: true })
  }
  write(`${directory}/HEAD`, "ref: refs/heads/main\n")
  write(`${directory}/config`, "[core]\n")
}

/** A workspace, a directory beside it and a state directory with a secret; removed with the scope. */
const machine = Effect.gen(function* () {
  const base = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync("/tmp/colloquy-lookups-"))),
    (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true })),
  )
  for (const place of ["workspace/src", "other", "state"]) {
    Fs.mkdirSync(`${base}/${place}`, { recursive: true })
  }
  write(`${base}/state/auth.json`, "secret")
  return base
})

/** Calls of this system that are counted; `mounts` may claim another table. */
const counted = (mounts = pathCalls.mounts) => {
  const counts = { now: 0, later: 0 }
  const calls: PathFacts.PathCalls = {
    mounts,
    lookNow: (path) => {
      counts.now++
      return pathCalls.lookNow(path)
    },
    look: (path) => {
      counts.later++
      return pathCalls.look(path)
    },
    realPath: (path) => {
      counts.later++
      return pathCalls.realPath(path)
    },
  }
  return { counts, facts: PathFacts.make(calls) }
}

/** What is protected for the workspace, or the words of the refusal, without the names of this test. */
const protectedIn = (base: string, view: PathFacts.PathView) =>
  Effect.gen(function* () {
    const roots = yield* resolveRoots([`${base}/workspace`, `${base}/other`], ["/tmp"])
    return yield* findProtectedPaths(roots, `${base}/workspace`, [
      `${base}/state`,
      `${base}/none/key`,
    ])
  }).pipe(
    Effect.provideService(CurrentView, view),
    Effect.provide(NodeServices.layer),
    Effect.result,
    Effect.map((found) =>
      Result.isSuccess(found)
        ? found.success
            .map(({ kind, path }) => `${kind} ${path.slice(base.length)}`)
            .filter((line) => !line.includes("/other/"))
        : found.failure.message.replaceAll(base, ""),
    ),
  )

const state = "hiddenDirectory /state"

/** A change between two commands, and what the second one must protect. Before it: the state and a missing `.git`. */
const changes: ReadonlyArray<
  readonly [string, (base: string) => void, ReadonlyArray<string> | string]
> = [
  ["nothing changes", () => {}, ["empty /workspace/.git", state]],
  [
    "a repository appears",
    (base) => repository(`${base}/workspace/.git`),
    ["readOnly /workspace/.git", state],
  ],
  [
    "a directory appears that is no repository yet",
    (base) => Fs.mkdirSync(`${base}/workspace/.git/hooks`, { recursive: true }),
    ["readOnly /workspace/.git", state],
  ],
  [
    "another command protects a missing repository",
    (base) => Fs.mkdirSync(`${base}/workspace/.git/.colloquy-sandbox-1`, { recursive: true }),
    ["empty /workspace/.git", state],
  ],
  [
    "a repository appears whose hooks lie elsewhere",
    (base) => {
      repository(`${base}/workspace/.git`)
      Fs.rmdirSync(`${base}/workspace/.git/hooks`)
      Fs.mkdirSync(`${base}/hooks`)
      Fs.symlinkSync(`${base}/hooks`, `${base}/workspace/.git/hooks`)
    },
    ["readOnly /workspace/.git", "readOnly /hooks", state],
  ],
  [
    "a file of a worktree appears",
    (base) => {
      repository(`${base}/main`)
      write(`${base}/workspace/.git`, `gitdir: ${base}/main\n`)
    },
    ["readOnly /workspace/.git", "readOnly /main", state],
  ],
  [
    "a link to a repository appears",
    (base) => {
      repository(`${base}/main`)
      Fs.symlinkSync(`${base}/main`, `${base}/workspace/.git`)
    },
    ["frozen /workspace", "readOnly /main", state],
  ],
  [
    "the workspace is replaced by a link",
    (base) => {
      Fs.renameSync(`${base}/workspace`, `${base}/moved`)
      Fs.symlinkSync(`${base}/moved`, `${base}/workspace`)
    },
    "the writable root /workspace leads to /moved through the link /workspace, which a command may have made; name the directory itself",
  ],
  [
    "a secret becomes a link",
    (base) => {
      write(`${base}/key`, "secret")
      Fs.rmSync(`${base}/state/auth.json`)
      Fs.symlinkSync(`${base}/key`, `${base}/state/auth.json`)
    },
    ["empty /workspace/.git", state, "hiddenFile /key"],
  ],
  [
    "a secret gets another name",
    (base) => Fs.linkSync(`${base}/state/auth.json`, `${base}/copy`),
    "/state/auth.json has another name (a hard link), by which commands could read it: replace it by a copy",
  ],
  [
    "a hidden file is created",
    (base) => write(`${base}/none/key`, "secret"),
    ["empty /workspace/.git", state, "hiddenFile /none/key"],
  ],
  [
    "the state directory is moved into the workspace behind a link",
    (base) => {
      Fs.renameSync(`${base}/state`, `${base}/workspace/state`)
      Fs.symlinkSync(`${base}/workspace/state`, `${base}/state`)
    },
    ["empty /workspace/.git", "hiddenDirectory /workspace/state"],
  ],
]

describe.skipIf(process.platform !== "linux")("what the sandbox looks up for a command", () => {
  it.effect.each(changes)("L15 sees at the next command that %s", ([, change, expected]) =>
    Effect.gen(function* () {
      const base = yield* machine
      const { facts } = counted()
      assert.deepStrictEqual(yield* protectedIn(base, yield* facts.view), [
        "empty /workspace/.git",
        state,
      ])
      change(base)
      assert.deepStrictEqual(yield* protectedIn(base, yield* facts.view), expected)
      // The looks through the thread pool are the measure.
      const slowly = PathFacts.asynchronous(pathCalls)
      assert.deepStrictEqual(yield* protectedIn(base, slowly), expected)
    }).pipe(Effect.scoped),
  )

  it.effect("looks 35 times, never through the thread pool, and does not remember", () =>
    Effect.gen(function* () {
      const base = yield* machine
      repository(`${base}/workspace/.git`)
      repository(`${base}/other/.git`)
      const { counts, facts } = counted()
      for (let command = 0; command < 3; command++) {
        counts.now = 0
        yield* protectedIn(base, yield* facts.view)
        assert.isAtMost(counts.now, 35 * 1.1)
        assert.isAtLeast(counts.now, 10)
        assert.strictEqual(counts.later, 0)
      }
    }).pipe(Effect.scoped),
  )

  it.effect("looks asynchronously as soon as the table has a mount that may not respond", () =>
    Effect.gen(function* () {
      const base = yield* machine
      const table = `1 2 0:1 / / rw - ext4 source rw\n3 1 0:2 / ${base}/workspace rw - nfs4 server rw\n`
      const { counts, facts } = counted(() => table)
      const seen = yield* protectedIn(base, yield* facts.view)
      assert.deepStrictEqual(seen, ["empty /workspace/.git", state])
      assert.isAtLeast(counts.later, 1)
    }).pipe(Effect.scoped),
  )
})
