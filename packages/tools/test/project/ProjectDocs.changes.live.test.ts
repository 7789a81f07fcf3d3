import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Fs from "node:fs"
import { dirname, join } from "node:path"
import * as ProjectDocs from "../../src/project/ProjectDocs.ts"
import { pathCalls } from "../../src/sandbox/NodeFiles.ts"
import type { PathCalls, PathLook } from "../../src/sandbox/PathFacts.ts"

const write = (root: string, file: string, text: string) => {
  Fs.mkdirSync(dirname(join(root, file)), { recursive: true })
  Fs.writeFileSync(join(root, file), text)
}

/** How often each kind of call was made. */
interface Counts {
  now: number
  later: number
}

/** Counts the calls. While `frozen` is set, every path looks as it did when it was first looked at. */
const observed = () => {
  const counts: Counts = { now: 0, later: 0 }
  const first = new Map<string, PathLook>()
  const state = { isFrozen: false }
  const calls: PathCalls = {
    mounts: pathCalls.mounts,
    lookNow: (path) => {
      counts.now++
      const known = state.isFrozen ? first.get(path) : undefined
      const found = known ?? pathCalls.lookNow(path)
      first.set(path, found)
      return found
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
  return { calls, counts, state }
}

/** A directory of the machine with a reader for `cwd` in it, ten seconds after its files were written. */
const machine = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>, cwd: string) {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync("/tmp/colloquy-docs-"))),
    (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true })),
  )
  for (const [file, text] of Object.entries(files)) write(root, file, text)
  Fs.mkdirSync(join(root, cwd), { recursive: true })
  yield* TestClock.setTime(Math.ceil(Fs.statSync(root).ctimeMs) + 10_000)
  const { calls, counts, state } = observed()
  const docs = yield* ProjectDocs.make(
    { stateDirectory: `${root}/state`, hiddenPaths: [`${root}/state`, `${root}/none`] },
    calls,
  )
  const read = Effect.provide(docs.read({ cwd: join(root, cwd) }), NodeServices.layer)
  return { root, counts, state, read }
})

const repository = {
  "state/auth.json": "secret",
  "AGENTS.md": "above",
  "repo/.git/HEAD": "ref: refs/heads/main",
  "repo/AGENTS.md": "root",
  "repo/a/b/AGENTS.md": "deep",
}

/** A change of the files and the text that the next conversation must get. Before it the text is "root\n\ndeep". */
const changes: ReadonlyArray<readonly [string, (root: string) => void, string | undefined]> = [
  [
    "a file is created in a parent",
    (root) => write(root, "repo/a/AGENTS.md", "new"),
    "root\n\nnew\n\ndeep",
  ],
  [
    "the user's file is created",
    (root) => write(root, "state/AGENTS.md", "mine"),
    "mine\n\n--- project-doc ---\n\nroot\n\ndeep",
  ],
  ["a file is removed", (root) => Fs.rmSync(`${root}/repo/AGENTS.md`), "deep"],
  [
    "a file gets a longer text",
    (root) => write(root, "repo/AGENTS.md", "longer"),
    "longer\n\ndeep",
  ],
  [
    "a file is replaced by another of the same size and modification time",
    (root) => {
      const file = `${root}/repo/AGENTS.md`
      const { atime, mtime } = Fs.statSync(file)
      Fs.writeFileSync(`${file}.new`, "ROOT")
      Fs.utimesSync(`${file}.new`, atime, mtime)
      Fs.renameSync(`${file}.new`, file)
    },
    "ROOT\n\ndeep",
  ],
  [
    "a text of the same size is written into a file",
    (root) => {
      write(root, "repo/AGENTS.md", "ROOT")
      Fs.utimesSync(`${root}/repo/AGENTS.md`, 1, 1)
    },
    "ROOT\n\ndeep",
  ],
  [
    "a file is replaced by a link",
    (root) => {
      write(root, "repo/CLAUDE.md", "linked")
      Fs.rmSync(`${root}/repo/AGENTS.md`)
      Fs.symlinkSync("CLAUDE.md", `${root}/repo/AGENTS.md`)
    },
    "linked\n\ndeep",
  ],
  [
    "a file is replaced by a link to a secret",
    (root) => {
      Fs.rmSync(`${root}/repo/AGENTS.md`)
      Fs.symlinkSync("../state/auth.json", `${root}/repo/AGENTS.md`)
    },
    "deep",
  ],
  [
    "a file gets another name among the secrets",
    (root) => Fs.linkSync(`${root}/repo/AGENTS.md`, `${root}/state/session`),
    "deep",
  ],
  [
    "a secret becomes a link to a file",
    (root) => {
      Fs.rmSync(`${root}/state/auth.json`)
      Fs.symlinkSync("../repo/AGENTS.md", `${root}/state/auth.json`)
    },
    "deep",
  ],
  [
    "a parent is replaced by a link to a directory of the same files",
    (root) => {
      Fs.renameSync(`${root}/repo/a`, `${root}/state/a`)
      Fs.symlinkSync("../state/a", `${root}/repo/a`)
    },
    "root",
  ],
  [
    "a file becomes a directory",
    (root) => {
      Fs.rmSync(`${root}/repo/AGENTS.md`)
      Fs.mkdirSync(`${root}/repo/AGENTS.md`)
    },
    "deep",
  ],
  [
    "a repository is created in a subdirectory",
    (root) => write(root, "repo/a/.git/HEAD", "ref: refs/heads/x"),
    "deep",
  ],
  [
    "a work tree is created in a subdirectory",
    (root) => write(root, "repo/a/.git", "gitdir: x"),
    "deep",
  ],
  [
    "a repository is created above",
    (root) => write(root, ".git/HEAD", "ref: refs/heads/x"),
    "root\n\ndeep",
  ],
  [
    "the branch changes",
    (root) => write(root, "repo/.git/HEAD", "ref: refs/heads/other"),
    "root\n\ndeep",
  ],
  [
    "the repository is removed",
    (root) => Fs.rmSync(`${root}/repo/.git`, { recursive: true }),
    "deep",
  ],
  [
    "the repository is removed below another",
    (root) => {
      write(root, ".git/HEAD", "")
      Fs.rmSync(`${root}/repo/.git/HEAD`)
    },
    "above\n\nroot\n\ndeep",
  ],
]

describe("ProjectDocs, when files change between two conversations", () => {
  it.effect.each(changes)("sees that %s", ([, change, expected]) =>
    Effect.gen(function* () {
      const { read, root } = yield* machine(repository, "repo/a/b")
      for (const _ of [1, 2]) assert.strictEqual(yield* read, "root\n\ndeep")
      change(root)
      for (const _ of [1, 2]) assert.strictEqual(yield* read, expected)
    }).pipe(Effect.scoped),
  )

  it.effect("sees every change while a file is younger than the resolution of its times", () =>
    Effect.gen(function* () {
      const { read, root, state } = yield* machine(repository, "repo/a/b")
      assert.strictEqual(yield* read, "root\n\ndeep")
      // The file as it looks when a change falls into the same moment.
      state.isFrozen = true
      yield* TestClock.setTime(Math.floor(Fs.statSync(`${root}/repo/AGENTS.md`).ctimeMs) + 1999)
      for (const text of ["AAAA", "BBBB", "CCCC"]) {
        write(root, "repo/AGENTS.md", text)
        assert.strictEqual(yield* read, `${text}\n\ndeep`)
      }
    }).pipe(Effect.scoped),
  )

  it.effect("does not trust a file that is younger than the clock", () =>
    Effect.gen(function* () {
      const { read, root, state } = yield* machine(repository, "repo/a/b")
      yield* TestClock.setTime((yield* Clock.currentTimeMillis) - 86_400_000)
      assert.strictEqual(yield* read, "root\n\ndeep")
      state.isFrozen = true
      write(root, "repo/AGENTS.md", "ROOT")
      assert.strictEqual(yield* read, "ROOT\n\ndeep")
    }).pipe(Effect.scoped),
  )

  it.effect("reads an unchanged file once", () =>
    Effect.gen(function* () {
      const { read, root, state } = yield* machine(repository, "repo/a/b")
      assert.strictEqual(yield* read, "root\n\ndeep")
      state.isFrozen = true
      // Only a reader that opens the file sees this.
      write(root, "repo/AGENTS.md", "ROOT")
      assert.strictEqual(yield* read, "root\n\ndeep")
      state.isFrozen = false
      Fs.utimesSync(`${root}/repo/AGENTS.md`, 1, 1)
      assert.strictEqual(yield* read, "ROOT\n\ndeep")
    }).pipe(Effect.scoped),
  )

  it.effect("reads an unchanged file once that a link leads to", () =>
    Effect.gen(function* () {
      const { counts, read, root, state } = yield* machine(repository, "repo/a/b")
      write(root, "repo/a/CLAUDE.md", "linked")
      Fs.symlinkSync("CLAUDE.md", `${root}/repo/a/AGENTS.md`)
      yield* TestClock.setTime(Math.ceil(Fs.statSync(`${root}/repo/a`).ctimeMs) + 10_000)
      assert.strictEqual(yield* read, "root\n\nlinked\n\ndeep")
      state.isFrozen = true
      counts.later = 0
      // Only a reader that opens the file sees this.
      write(root, "repo/a/CLAUDE.md", "LINKED")
      assert.strictEqual(yield* read, "root\n\nlinked\n\ndeep")
      // The path without links.
      assert.strictEqual(counts.later, 1)
      state.isFrozen = false
      Fs.utimesSync(`${root}/repo/a/CLAUDE.md`, 1, 1)
      assert.strictEqual(yield* read, "root\n\nLINKED\n\ndeep")
    }).pipe(Effect.scoped),
  )

  it.effect.each([
    [
      "leads to another file of the same size and times",
      (root: string) => {
        const { atime, mtime } = Fs.statSync(`${root}/repo/a/CLAUDE.md`)
        write(root, "repo/a/OTHER.md", "LINKED")
        Fs.utimesSync(`${root}/repo/a/OTHER.md`, atime, mtime)
        Fs.rmSync(`${root}/repo/a/AGENTS.md`)
        Fs.symlinkSync("OTHER.md", `${root}/repo/a/AGENTS.md`)
      },
      "root\n\nLINKED\n\ndeep",
    ],
    [
      "leads to a secret",
      (root: string) => {
        Fs.rmSync(`${root}/repo/a/AGENTS.md`)
        Fs.symlinkSync("../../state/auth.json", `${root}/repo/a/AGENTS.md`)
      },
      "root\n\ndeep",
    ],
    [
      "leads to a file that was moved to the secrets",
      (root: string) => {
        Fs.renameSync(`${root}/repo/a/CLAUDE.md`, `${root}/state/session`)
        Fs.symlinkSync("../../state/session", `${root}/repo/a/CLAUDE.md`)
      },
      "root\n\ndeep",
    ],
    ["leads to nothing", (root: string) => Fs.rmSync(`${root}/repo/a/CLAUDE.md`), "root\n\ndeep"],
    [
      "leads to a file with another name among the secrets",
      (root: string) => Fs.linkSync(`${root}/repo/a/CLAUDE.md`, `${root}/state/session`),
      "root\n\ndeep",
    ],
  ] as const)("sees that a link %s", ([, change, expected]) =>
    Effect.gen(function* () {
      const { read, root } = yield* machine(repository, "repo/a/b")
      write(root, "repo/a/CLAUDE.md", "linked")
      Fs.symlinkSync("CLAUDE.md", `${root}/repo/a/AGENTS.md`)
      yield* TestClock.setTime(Math.ceil(Fs.statSync(`${root}/repo/a`).ctimeMs) + 10_000)
      for (const _ of [1, 2]) assert.strictEqual(yield* read, "root\n\nlinked\n\ndeep")
      change(root)
      for (const _ of [1, 2]) assert.strictEqual(yield* read, expected)
    }).pipe(Effect.scoped),
  )

  it.effect("remembers a limited number of files", () =>
    Effect.gen(function* () {
      const files = Array.from({ length: 100 }, (_, index) => `many/${index}`)
      const { root } = yield* machine({}, "none")
      for (const file of files) write(root, `${file}/AGENTS.md`, "old")
      yield* TestClock.setTime(Math.ceil(Fs.statSync(`${root}/many/99`).ctimeMs) + 10_000)
      const { calls, state } = observed()
      const docs = yield* ProjectDocs.make({}, calls)
      const read = (file: string) => docs.read({ cwd: join(root, file) })
      for (const file of files) assert.strictEqual(yield* read(file), "old")
      state.isFrozen = true
      for (const file of files) write(root, `${file}/AGENTS.md`, "new")
      const texts = yield* Effect.forEach(files.toReversed(), read)
      // Those used last are remembered, and no more than 64 of them.
      assert.strictEqual(texts[0], "old")
      assert.isAtLeast(texts.filter((text) => text === "new").length, 36)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )

  it.effect("asks nothing of the thread pool, and the kernel a bounded number of times", () =>
    Effect.gen(function* () {
      const { counts, read, root } = yield* machine(repository, "repo/a/b")
      yield* read
      const depth = root.split("/").length - 1
      Object.assign(counts, { now: 0, later: 0 } satisfies Counts)
      yield* read
      // The directories to the user's file, that file, the directories to `cwd`, three `.git` and one HEAD, four
      // AGENTS.md, the hidden places and their entries, the workspace.
      const expected = depth + 1 + 1 + 3 + 3 + 1 + 3 + (1 + 8) + 2 + 1
      assert.strictEqual(counts.later, 0)
      assert.isAtMost(counts.now, expected * 1.1)
      assert.isAtLeast(counts.now, expected * 0.9)
    }).pipe(Effect.scoped),
  )
})
