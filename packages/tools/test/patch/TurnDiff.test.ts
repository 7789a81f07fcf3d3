import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type { FileState, Operation } from "../../src/patch/Operation.ts"
import * as TurnDiff from "../../src/patch/TurnDiff.ts"
import * as UnifiedDiff from "../../src/patch/UnifiedDiff.ts"
import type { PathCalls } from "../../src/sandbox/PathFacts.ts"

const missing: FileState = { _tag: "Missing" }
const text = (content: string, isExecutable = false): FileState => ({
  _tag: "Text",
  text: content,
  isExecutable,
})
const add = (path: string, content: string, before: FileState = missing): Operation => ({
  _tag: "Write",
  kind: "Add",
  path,
  before,
  content,
})
const update = (path: string, before: FileState, content: string): Operation => ({
  _tag: "Write",
  kind: "Update",
  path,
  before,
  content,
})
const remove = (path: string, before: FileState): Operation => ({ _tag: "Delete", path, before })
const move = (
  path: string,
  before: FileState,
  to: string,
  content: string,
  toBefore: FileState = missing,
): Operation => ({ _tag: "Move", path, before, to, toBefore, content })

/** Git's object ids of the contents (`git hash-object`). */
const oid = {
  none: "0".repeat(40),
  a: "78981922613b2afb6025042ff6bd878ac1994e85",
  b: "61780798228d17af2d34fce4cfbdf35556832472",
  hello: "94954abda49de8615a048f8d2e64b5de848e27a1",
  HELLO: "e03e8dfd8c9e22b5f01c238614f5ed94731bca2e",
  new: "3e757656cf36eca53338e520d134963a44f793f8",
  empty: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
}

/** A local file system that contains these files. Nothing waits for a thread. */
const callsOf = (files: ReadonlyArray<string>): PathCalls => {
  const stamp = { device: 1n, inode: 2n, links: 1n, size: 3n, modifiedNs: 4n, changedNs: 5n }
  return {
    mounts: () => "1 2 0:1 / / rw - ext4 source rw\n",
    lookNow: (path) => {
      if (files.includes(path)) return { type: "File", ...stamp }
      return ["/work", "/work/sub", "/workspace"].includes(path) ||
        files.some((file) => file.startsWith(`${path}/`))
        ? { type: "Directory", ...stamp }
        : { type: "Missing" }
    },
    look: (path) => Effect.die(`a thread looks at ${path}`),
    realPath: (path) => Effect.die(`a thread looks at ${path}`),
  }
}

const open = (cwd: string, files: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const make = yield* TurnDiff.make(
      (before, after, context) =>
        Effect.sync(() => UnifiedDiff.hunks(before, after, context) ?? "late"),
      callsOf(files),
    )
    return yield* make(cwd)
  }).pipe(Effect.provide(Layer.merge(Path.layer, FileSystem.layerNoop({}))))

const diffOf = (...operations: ReadonlyArray<Operation>) =>
  Effect.flatMap(open("/work/sub", ["/work/.git/HEAD"]), (diff) => diff.add(operations))

describe("TurnDiff", () => {
  it.effect("equals the recording `patch_auto`: a moved file has its two names", () =>
    Effect.gen(function* () {
      const diff = yield* open("/workspace", [])
      const texts = yield* diff.add([
        add("/workspace/sub/new.txt", "new\n"),
        move(
          "/workspace/hello.txt",
          text("hello\nworld\n"),
          "/workspace/moved.txt",
          "HELLO\nworld\n",
        ),
      ])
      assert.strictEqual(
        texts,
        `diff --git a/hello.txt b/moved.txt\nindex ${oid.hello}..${oid.HELLO}\n--- a/hello.txt\n+++ b/moved.txt\n@@ -1,2 +1,2 @@\n-hello\n+HELLO\n world\ndiff --git a/sub/new.txt b/sub/new.txt\nnew file mode 100644\nindex ${oid.none}..${oid.new}\n--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+new\n`,
      )
    }),
  )

  const modified = `diff --git a/f b/f\nindex ${oid.a}..${oid.b}\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n`
  const deleted = `diff --git a/f b/f\ndeleted file mode 100644\nindex ${oid.a}..${oid.none}\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`
  const created = `diff --git a/g b/g\nnew file mode 100644\nindex ${oid.none}..${oid.b}\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+b\n`
  const cases: ReadonlyArray<
    readonly [name: string, operations: ReadonlyArray<Operation>, expected: string | undefined]
  > = [
    ["nothing for nothing", [], undefined],
    [
      "a file from its first to its last content",
      [update("/work/f", text("a\n"), "x\n"), update("/work/f", text("x\n"), "b\n")],
      modified,
    ],
    ["a file added over another", [add("/work/f", "b\n", text("a\n"))], modified],
    ["a file deleted", [remove("/work/f", text("a\n"))], deleted],
    [
      "a file deleted and added again",
      [remove("/work/f", text("a\n")), add("/work/f", "b\n")],
      modified,
    ],
    [
      "nothing for a file changed back",
      [update("/work/f", text("a\n"), "b\n"), update("/work/f", text("b\n"), "a\n")],
      undefined,
    ],
    [
      "nothing for a file added and deleted",
      [add("/work/f", "b\n"), remove("/work/f", text("b\n"))],
      undefined,
    ],
    [
      "a file added and moved where it is now",
      [add("/work/f", "b\n"), move("/work/f", text("b\n"), "/work/g", "b\n")],
      created,
    ],
    [
      "a file moved and moved back where it was",
      [
        move("/work/f", text("a\n"), "/work/g", "a\n"),
        move("/work/g", text("a\n"), "/work/f", "b\n"),
      ],
      modified,
    ],
    [
      "a file moved and deleted as deleted",
      [move("/work/f", text("a\n"), "/work/g", "b\n"), remove("/work/g", text("b\n"))],
      deleted,
    ],
    [
      "a file moved onto another as deleted, the other as changed",
      [move("/work/g", text("b\n"), "/work/f", "b\n", text("a\n"))],
      `${modified}diff --git a/g b/g\ndeleted file mode 100644\nindex ${oid.b}..${oid.none}\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n`,
    ],
    [
      "a file moved away and a new one in its place",
      [move("/work/f", text("a\n"), "/work/g", "a\n"), add("/work/f", "b\n")],
      `diff --git a/f b/f\nnew file mode 100644\nindex ${oid.none}..${oid.b}\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\ndiff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n`,
    ],
    [
      "a moved file lost under another as deleted",
      [
        move("/work/f", text("a\n"), "/work/g", "a\n"),
        move("/work/h", text("a\n"), "/work/g", "b\n", text("a\n")),
      ],
      `${deleted}${created}${deleted.replaceAll(/\b([ab])\/f/g, "$1/h")}`,
    ],
    [
      "an empty file without lines",
      [add("/work/f", "")],
      `diff --git a/f b/f\nnew file mode 100644\nindex ${oid.none}..${oid.empty}\n`,
    ],
    [
      "a program by its mode",
      [remove("/work/f", text("a\n", true))],
      deleted.replace("100644", "100755"),
    ],
    [
      "what is no text in a word",
      [remove("/work/f", { _tag: "Binary", bytes: new TextEncoder().encode("a\n"), reason: "" })],
      `diff --git a/f b/f\ndeleted file mode 100644\nindex ${oid.a}..${oid.none}\nBinary files differ\n`,
    ],
    [
      "a last line without end",
      [update("/work/f", text("a"), "a\n")],
      `diff --git a/f b/f\nindex 2e65efe2a145dda7ee51d1741299f848e5bf752e..${oid.a}\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n`,
    ],
    [
      "a file outside of the repository by its whole path",
      [add("/else/g", "b\n")],
      created.replaceAll(/\b([ab])\/g/g, "$1/else/g"),
    ],
    [
      "a name with a quote in quotes",
      [add('/work/"', "")],
      `diff --git "a/\\"" "b/\\""\nnew file mode 100644\nindex ${oid.none}..${oid.empty}\n`,
    ],
  ]
  for (const [name, operations, expected] of cases) {
    it.effect(`shows ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* diffOf(...operations), expected)
      }),
    )
  }

  it.effect(
    "reports the diff of the whole turn after each change, and nothing without a change",
    () =>
      Effect.gen(function* () {
        const diff = yield* open("/work", ["/work/.git/HEAD"])
        assert.strictEqual(yield* diff.add([update("/work/f", text("a\n"), "b\n")]), modified)
        assert.strictEqual(yield* diff.add([]), undefined)
        assert.strictEqual(yield* diff.add([add("/work/g", "b\n")]), `${modified}${created}`)
        assert.strictEqual(yield* diff.add([remove("/work/g", text("b\n"))]), modified)
        assert.strictEqual(yield* diff.add([update("/work/f", text("b\n"), "a\n")]), undefined)
      }),
  )
})
