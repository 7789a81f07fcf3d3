import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EffectPath from "effect/Path"
import * as Result from "effect/Result"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll } from "vitest"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"
import type { FileState } from "../../src/patch/Operation.ts"
import * as PatchProcess from "../../src/patch/PatchProcess.ts"
import * as PatchText from "../../src/patch/PatchText.ts"
import * as Utf8 from "../../src/patch/Utf8.ts"

const base = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "patch-")))
afterAll(() => Fs.rmSync(base, { recursive: true, force: true }))

let count = 0
/** Creates a workspace with a file, and the files beside it. */
const make = () => {
  const root = Path.join(base, `${count++}`)
  const workspace = Path.join(root, "work")
  Fs.mkdirSync(Path.join(workspace, "sub"), { recursive: true })
  Fs.mkdirSync(Path.join(root, "outside"))
  Fs.writeFileSync(Path.join(root, "outside", "secret"), "secret\n")
  Fs.writeFileSync(Path.join(workspace, "a.txt"), "a\n")
  return { root, workspace, at: (name: string) => Path.join(workspace, name) }
}
type Place = ReturnType<typeof make>

const found = (file: string): FileState => {
  const stats = Fs.statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return { _tag: "Missing" }
  if (stats.isDirectory()) return { _tag: "Directory" }
  const bytes = Fs.readFileSync(file)
  return Result.match(Utf8.decode(bytes), {
    onSuccess: (text) => ({ _tag: "Text" as const, text, isExecutable: false }),
    onFailure: (reason) => ({ _tag: "Binary" as const, bytes, reason }),
  })
}

const planned = (place: Place, lines: ReadonlyArray<string>): PatchPlan.PatchPlan =>
  Effect.runSync(
    Effect.gen(function* () {
      const path = yield* EffectPath.Path
      const hunks = Result.getOrThrow(
        PatchText.parse(["*** Begin Patch", ...lines, "*** End Patch"].join("\n")),
      )
      return yield* PatchPlan.make(hunks, place.workspace, path, (file) =>
        Effect.sync(() => found(file)),
      )
    }).pipe(Effect.provide(EffectPath.layer)),
  )

const perform = (
  place: Place,
  plan: Pick<PatchPlan.PatchPlan, "operations">,
  scope: PatchProcess.Scope,
): PatchProcess.Applied => {
  const [file, ...args] = PatchProcess.launch(process.execPath, place.workspace, plan, scope).argv
  const launch = PatchProcess.launch(process.execPath, place.workspace, plan, scope)
  const { stderr, stdout } = spawnSync(file, args, {
    cwd: launch.cwd,
    env: launch.env,
    input: launch.stdin,
  })
  assert.strictEqual(stderr.toString(), "")
  return PatchProcess.read(stdout.toString())
}

const run = (place: Place, ...lines: ReadonlyArray<string>): PatchProcess.Applied =>
  perform(place, planned(place, lines), {
    within: [place.workspace],
    keepOut: [place.at(".git")],
  })

const read = (file: string): string => Fs.readFileSync(file, "utf8")
const change = ["@@", "-a", "+b"]
const all = (done: number): PatchProcess.Applied => ({ done, error: undefined })

describe("PatchProgram: changes", () => {
  it("adds with parents, updates, moves, deletes", () => {
    const place = make()
    Fs.writeFileSync(place.at("gone"), "x")
    const applied = run(
      place,
      "*** Add File: x/y/new.txt",
      "+ü",
      "*** Update File: a.txt",
      "*** Move to: sub/deep/b.txt",
      ...change,
      "*** Delete File: gone",
    )
    assert.deepStrictEqual(applied, all(3))
    assert.deepStrictEqual(Fs.readdirSync(place.workspace).toSorted(), ["sub", "x"])
    assert.strictEqual(read(place.at("x/y/new.txt")), "ü\n")
    assert.strictEqual(read(place.at("sub/deep/b.txt")), "b\n")
  })

  it("keeps the mode of files that it updates and moves", () => {
    const place = make()
    Fs.chmodSync(place.at("a.txt"), 0o751)
    assert.deepStrictEqual(run(place, "*** Update File: a.txt", ...change), all(1))
    assert.strictEqual(Fs.statSync(place.at("a.txt")).mode & 0o777, 0o751)
    const moved = run(place, "*** Update File: a.txt", "*** Move to: b", "@@", " b")
    assert.deepStrictEqual(moved, all(1))
    assert.strictEqual(Fs.statSync(place.at("b")).mode & 0o777, 0o751)
  })

  it("writes a file with several names in place, so that the names stay linked", () => {
    const place = make()
    Fs.linkSync(place.at("a.txt"), place.at("other"))
    assert.deepStrictEqual(run(place, "*** Update File: a.txt", ...change), all(1))
    assert.strictEqual(read(place.at("other")), "b\n")
  })

  it("writes through a link to a file inside, and keeps the link", () => {
    const place = make()
    Fs.symlinkSync("a.txt", place.at("link"))
    assert.deepStrictEqual(run(place, "*** Update File: link", ...change), all(1))
    assert.strictEqual(read(place.at("a.txt")), "b\n")
    assert.isTrue(Fs.lstatSync(place.at("link")).isSymbolicLink())
  })

  it("deletes a link and not its target", () => {
    const place = make()
    Fs.symlinkSync("../outside/secret", place.at("link"))
    assert.deepStrictEqual(run(place, "*** Delete File: link"), all(1))
    assert.isTrue(Fs.existsSync(Path.join(place.root, "outside/secret")))
    assert.isFalse(Fs.existsSync(place.at("link")))
  })

  it("does not delete a file that is moved to its own path", () => {
    const place = make()
    Fs.symlinkSync(".", place.at("here"))
    for (const to of ["a.txt", "./sub/../a.txt", "here/a.txt"]) {
      Fs.writeFileSync(place.at("a.txt"), "a\n")
      const applied = run(place, "*** Update File: a.txt", `*** Move to: ${to}`, ...change)
      assert.deepStrictEqual(applied, all(1))
      assert.strictEqual(read(place.at("a.txt")), "b\n")
    }
  })

  it("renames to a name that differs only in case", () => {
    const place = make()
    const applied = run(place, "*** Update File: a.txt", "*** Move to: A.txt", ...change)
    assert.deepStrictEqual(applied, all(1))
    assert.deepStrictEqual(Fs.readdirSync(place.workspace).toSorted(), ["A.txt", "sub"])
  })

  it("moves onto another file, adds over one, deletes and adds, and touches one twice", () => {
    const place = make()
    Fs.writeFileSync(place.at("b"), "old\n")
    Fs.writeFileSync(place.at("c"), Uint8Array.of(0, 255))
    const applied = run(
      place,
      "*** Update File: a.txt",
      "*** Move to: b",
      ...change,
      "*** Add File: c",
      "+1",
      "*** Update File: c",
      "@@",
      "-1",
      "+2",
      "*** Delete File: b",
      "*** Add File: b",
      "+new",
    )
    assert.deepStrictEqual(applied, all(4))
    assert.deepStrictEqual(Fs.readdirSync(place.workspace).toSorted(), ["b", "c", "sub"])
    assert.deepStrictEqual([read(place.at("b")), read(place.at("c"))], ["new\n", "2\n"])
  })

  it("writes anywhere when it is not restricted to a directory", () => {
    const place = make()
    const plan = planned(place, ["*** Add File: ../outside/new", "+x"])
    assert.deepStrictEqual(perform(place, plan, { within: undefined, keepOut: [] }), all(1))
    assert.strictEqual(read(Path.join(place.root, "outside/new")), "x\n")
  })
})

describe("PatchProgram: errors", () => {
  const refused = (
    name: string,
    lines: ReadonlyArray<string>,
    error: RegExp,
    prepare: (place: Place) => void = () => {},
  ) => {
    it(name, () => {
      const place = make()
      prepare(place)
      const before = tree(place.root)
      const applied = run(place, ...lines)
      assert.strictEqual(applied.done, 0)
      assert.match(applied.error ?? "", error)
      assert.deepStrictEqual(tree(place.root), before)
    })
  }
  /** All files and links below `root`, with their contents. */
  const tree = (root: string): Record<string, string> =>
    Object.fromEntries(
      Fs.readdirSync(root, { recursive: true, encoding: "utf8" })
        .toSorted()
        .map((name) => {
          const file = Path.join(root, name)
          const stats = Fs.lstatSync(file)
          if (stats.isSymbolicLink()) return [name, `-> ${Fs.readlinkSync(file)}`]
          return [name, stats.isFile() ? read(file) : "directory"]
        }),
    )
  const outside = /Failed to write file .*\nCaused by: it leads to .*outside.*, outside of what/

  refused("a path with ..", ["*** Add File: ../outside/new", "+x"], outside)
  refused("an absolute path", ["*** Add File: /tmp/outside-new", "+x"], /outside of what/)
  refused(
    "an addition through a linked directory",
    ["*** Add File: link/new", "+x"],
    outside,
    (p) => Fs.symlinkSync("../outside", p.at("link")),
  )
  refused(
    "an addition in directories to be made behind a link",
    ["*** Add File: link/x/y/new", "+x"],
    outside,
    (p) => Fs.symlinkSync("../outside", p.at("link")),
  )
  refused(
    "an update through a linked directory",
    ["*** Update File: link/secret", "@@", "-secret", "+x"],
    outside,
    (p) => Fs.symlinkSync("../outside", p.at("link")),
  )
  refused("an update through a link", ["*** Update File: link", "@@", "-secret"], outside, (p) =>
    Fs.symlinkSync("../outside/secret", p.at("link")),
  )
  refused(
    "an addition through a link that leads nowhere",
    ["*** Add File: link", "+x"],
    /ENOENT/,
    (p) => Fs.symlinkSync("../outside/none", p.at("link")),
  )
  refused(
    "a deletion through a linked directory",
    ["*** Delete File: link/secret"],
    /Failed to delete file .*\nCaused by: it leads to/,
    (p) => Fs.symlinkSync("../outside", p.at("link")),
  )
  refused(
    "a move out of a linked directory",
    ["*** Update File: link/secret", "*** Move to: mine", "@@", " secret"],
    /Failed to remove original .*\nCaused by: it leads to/,
    (p) => Fs.symlinkSync("../outside", p.at("link")),
  )
  refused("a move out", ["*** Update File: a.txt", "*** Move to: ../outside/b", ...change], outside)
  refused("what is protected", ["*** Add File: .git/hooks/x", "+x"], /\.git.* is protected/, (p) =>
    Fs.mkdirSync(p.at(".git/hooks"), { recursive: true }),
  )
  refused("what is protected and missing", ["*** Add File: .git/x", "+x"], /is protected/)
  refused("what is protected, by a link", ["*** Add File: g/x", "+x"], /is protected/, (p) => {
    Fs.mkdirSync(p.at(".git"))
    Fs.symlinkSync(".git", p.at("g"))
  })
  refused("a read-only file", ["*** Update File: a.txt", ...change], /file is read-only/, (p) =>
    Fs.chmodSync(p.at("a.txt"), 0o444),
  )
  refused(
    "a parent that is a file",
    ["*** Add File: a.txt/b", "+x"],
    /Failed to create parent directories for .*a\.txt\/b/,
  )

  const meanwhile = (
    name: string,
    lines: ReadonlyArray<string>,
    change: (place: Place) => void,
    error: RegExp,
  ) => {
    it(name, () => {
      const place = make()
      const plan = planned(place, lines)
      change(place)
      const before = tree(place.root)
      const applied = perform(place, plan, { within: [place.workspace], keepOut: [] })
      assert.strictEqual(applied.done, 0)
      assert.match(applied.error ?? "", error)
      assert.deepStrictEqual(tree(place.root), before)
    })
  }
  const changed = /it changed since the patch was checked/
  meanwhile(
    "a file changed since",
    ["*** Update File: a.txt", ...change],
    (p) => Fs.writeFileSync(p.at("a.txt"), "a\nmore\n"),
    changed,
  )
  meanwhile(
    "a file gone since",
    ["*** Update File: a.txt", ...change],
    (p) => Fs.rmSync(p.at("a.txt")),
    changed,
  )
  meanwhile(
    "a file there since",
    ["*** Add File: n", "+x"],
    (p) => Fs.writeFileSync(p.at("n"), "mine"),
    changed,
  )
  meanwhile(
    "a deletion of what changed",
    ["*** Delete File: a.txt"],
    (p) => Fs.writeFileSync(p.at("a.txt"), "b\n"),
    changed,
  )
  meanwhile(
    "a move onto what is there since",
    ["*** Update File: a.txt", "*** Move to: n", ...change],
    (p) => Fs.writeFileSync(p.at("n"), "mine"),
    changed,
  )
  meanwhile(
    "a directory put in its place",
    ["*** Add File: n", "+x"],
    (p) => Fs.mkdirSync(p.at("n")),
    /it is a directory/,
  )
  meanwhile(
    "a link put in its place",
    ["*** Update File: a.txt", ...change],
    (p) => {
      Fs.rmSync(p.at("a.txt"))
      Fs.symlinkSync("../outside/secret", p.at("a.txt"))
    },
    outside,
  )

  it("keeps the changes made before the fault", () => {
    const place = make()
    const applied = run(
      place,
      "*** Add File: n",
      "+x",
      "*** Add File: ../outside/new",
      "+x",
      "*** Delete File: a.txt",
    )
    assert.strictEqual(applied.done, 1)
    assert.deepStrictEqual(Fs.readdirSync(place.workspace).toSorted(), ["a.txt", "n", "sub"])
  })

  it("reports that it did not finish when it printed nothing", () => {
    assert.deepStrictEqual(PatchProcess.read(""), {
      done: 0,
      error: "the program that applies patches did not finish",
    })
  })
})
