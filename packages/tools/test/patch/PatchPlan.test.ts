import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"
import type { FileState } from "../../src/patch/Operation.ts"
import * as PatchText from "../../src/patch/PatchText.ts"

const text = (content: string): FileState => ({
  _tag: "Text",
  text: content,
  isExecutable: false,
})

const files: Readonly<Record<string, FileState>> = {
  "/w/a.txt": text("1\n2\n3\n4\n5\n"),
  "/w/b.txt": text("b\n"),
  "/w/dir": { _tag: "Directory" },
  "/w/locked": { _tag: "Unreadable", reason: "Permission denied (os error 13)" },
  "/w/bin": { _tag: "Binary", bytes: Uint8Array.of(255), reason: "invalid utf-8 …" },
}

const plan = (...lines: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const patch = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")
    const hunks = Result.getOrThrow(PatchText.parse(patch))
    return yield* PatchPlan.make(hunks, "/w", path, (name) =>
      Effect.succeed(files[name] ?? { _tag: "Missing" }),
    )
  }).pipe(Effect.provide(Path.layer))

const changeB = ["*** Update File: b.txt", "@@", "-b", "+c"]

describe("Compute: changes by absolute path", () => {
  const cases: ReadonlyArray<
    readonly [name: string, lines: ReadonlyArray<string>, changes: PatchPlan.PatchPlan["changes"]]
  > = [
    ["an added file", ["*** Add File: n", "+x"], { "/w/n": { add: { content: "x\n" } } }],
    [
      "an added file over another",
      ["*** Add File: b.txt", "+x"],
      { "/w/b.txt": { add: { content: "x\n" } } },
    ],
    ["a deleted file", ["*** Delete File: b.txt"], { "/w/b.txt": { delete: { content: "b\n" } } }],
    [
      "an update with one line of context",
      ["*** Update File: ./x/../a.txt", "@@", "-3", "+three"],
      {
        "/w/a.txt": {
          update: { unified_diff: "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n", move_path: null },
        },
      },
    ],
    [
      "a move",
      ["*** Update File: b.txt", "*** Move to: ../c.txt", "@@", "-b", "+c"],
      {
        "/w/b.txt": { update: { unified_diff: "@@ -1 +1 @@\n-b\n+c\n", move_path: "/c.txt" } },
      },
    ],
    [
      "a move to its own path as an update",
      ["*** Update File: b.txt", "*** Move to: x/../b.txt", "@@", "-b", "+c"],
      { "/w/b.txt": { update: { unified_diff: "@@ -1 +1 @@\n-b\n+c\n", move_path: null } } },
    ],
    [
      "two updates of one file as one",
      [...changeB, "*** Update File: b.txt", "@@", "-c", "+d"],
      { "/w/b.txt": { update: { unified_diff: "@@ -1 +1 @@\n-b\n+d\n", move_path: null } } },
    ],
    [
      "a file deleted and added again as an update",
      ["*** Delete File: b.txt", "*** Add File: b.txt", "+c"],
      { "/w/b.txt": { update: { unified_diff: "@@ -1 +1 @@\n-b\n+c\n", move_path: null } } },
    ],
    [
      "a file added and deleted again as nothing",
      ["*** Add File: n", "+x", "*** Delete File: n"],
      {},
    ],
    [
      "a file added and updated as added",
      ["*** Add File: n", "+x", "*** Update File: n", "@@", "-x", "+y"],
      { "/w/n": { add: { content: "y\n" } } },
    ],
    [
      "a file moved away from under a new one",
      ["*** Update File: b.txt", "*** Move to: n", "@@", " b", "*** Add File: b.txt", "+new"],
      {
        "/w/b.txt": { update: { unified_diff: "@@ -1 +1 @@\n-b\n+new\n", move_path: null } },
        "/w/n": { add: { content: "b\n" } },
      },
    ],
    [
      "a file that is no text",
      ["*** Delete File: bin"],
      { "/w/bin": { delete: { content: "�" } } },
    ],
  ]
  for (const [name, lines, changes] of cases) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const result = yield* plan(...lines)
        assert.deepStrictEqual([result.error, result.changes], [undefined, changes])
      }),
    )
  }
})

describe("Compute: errors", () => {
  const cases: ReadonlyArray<readonly [name: string, lines: ReadonlyArray<string>, error: string]> =
    [
      ["no hunks", [], "No files were modified."],
      ["delete nothing", ["*** Delete File: n"], "Failed to delete file /w/n"],
      ["delete a directory", ["*** Delete File: dir"], "Failed to delete file /w/dir"],
      [
        "delete twice",
        ["*** Delete File: b.txt", "*** Delete File: b.txt"],
        "Failed to delete file /w/b.txt",
      ],
      ["add over a directory", ["*** Add File: dir", "+x"], "Failed to write file /w/dir"],
      [
        "update a directory",
        ["*** Update File: dir", "@@", "-x"],
        "Failed to read file to update /w/dir: Is a directory (os error 21)",
      ],
      [
        "update what cannot be read",
        ["*** Update File: locked", "@@", "-x"],
        "Failed to read file to update /w/locked: Permission denied (os error 13)",
      ],
      [
        "update what was deleted",
        ["*** Delete File: b.txt", ...changeB],
        "Failed to read file to update /w/b.txt: No such file or directory (os error 2)",
      ],
      [
        "update what was moved away",
        ["*** Update File: b.txt", "*** Move to: n", "@@", " b", ...changeB],
        "Failed to read file to update /w/b.txt: No such file or directory (os error 2)",
      ],
      [
        "move onto a directory",
        ["*** Update File: b.txt", "*** Move to: dir", "@@", " b"],
        "Failed to write file /w/dir",
      ],
      [
        "NUL in a path",
        ["*** Add File: a\0b", "+x"],
        "Invalid path 'a\0b': it contains a NUL byte",
      ],
      [
        "NUL in a move",
        ["*** Update File: b.txt", "*** Move to: n\0", "@@", " b"],
        "Invalid path 'b.txt': it contains a NUL byte",
      ],
    ]
  for (const [name, lines, error] of cases) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const result = yield* plan(...lines)
        assert.strictEqual(result.error, error)
      }),
    )
  }

  it.effect("keeps what comes before the fault, and nothing after it", () =>
    Effect.gen(function* () {
      const result = yield* plan(...changeB, "*** Delete File: n", "*** Delete File: a.txt")
      assert.deepStrictEqual(result.paths, ["/w/b.txt"])
      assert.strictEqual(
        PatchPlan.summary(result),
        "Success. Updated the following files:\nM b.txt\n",
      )
    }),
  )
})

describe("Compute: summary", () => {
  it.effect("lists added, modified and deleted files as the patch names them", () =>
    Effect.gen(function* () {
      const result = yield* plan(
        "*** Delete File: ./bin",
        "*** Update File: a.txt",
        "*** Move to: m/a.txt",
        "@@",
        "-1",
        "*** Add File: n2",
        ...changeB,
        "*** Add File: n1",
      )
      assert.strictEqual(
        PatchPlan.summary(result),
        "Success. Updated the following files:\nA n2\nA n1\nM m/a.txt\nM b.txt\nD ./bin\n",
      )
      assert.deepStrictEqual(result.paths, [
        "/w/bin",
        "/w/a.txt",
        "/w/m/a.txt",
        "/w/n2",
        "/w/b.txt",
        "/w/n1",
      ])
    }),
  )
})
