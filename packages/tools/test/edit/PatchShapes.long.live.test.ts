import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { codeOf, textOf } from "../support/CommandOutput.ts"
import { calls } from "../support/Machine.ts"
import { stage } from "../support/Stage.ts"

const open = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "danger-full-access" },
} as const

const patch = (...lines: ReadonlyArray<string>) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")

interface Shape {
  readonly prepare?: (workspace: string) => void
  readonly patch: string
  /** The start of the output for the model; `WS` is the workspace. */
  readonly texts: string
  /** Path of the file to check afterwards. Its `content` is undefined when the file must not exist. */
  readonly file: string
  readonly content: string | undefined
}

const numbers = Array.from({ length: 20_000 }, (_, n) => `line ${n}`)

const shapes: Readonly<Record<string, Shape>> = {
  "over a directory": {
    prepare: (ws) => Fs.mkdirSync(`${ws}/dir`),
    patch: patch("*** Add File: dir", "+new"),
    texts: "error: Failed to write file WS/dir",
    file: "dir",
    content: undefined,
  },
  "of a directory": {
    prepare: (ws) => Fs.mkdirSync(`${ws}/dir`),
    patch: patch("*** Delete File: dir"),
    texts: "error: Failed to delete file WS/dir",
    file: "dir",
    content: undefined,
  },
  "below a file": {
    patch: patch("*** Add File: hello.txt/new", "+new"),
    texts: "error: Failed to write file WS/hello.txt/new",
    file: "hello.txt",
    content: "hello\nworld\n",
  },
  "onto a file that is read-only": {
    prepare: (ws) => Fs.chmodSync(`${ws}/hello.txt`, 0o444),
    patch: patch("*** Update File: hello.txt", "@@", "-hello", "+new"),
    texts: "Failed to write file WS/hello.txt\nCaused by: the file is read-only\n",
    file: "hello.txt",
    content: "hello\nworld\n",
  },
  "that fails half done": {
    prepare: (ws) => Fs.chmodSync(`${ws}/hello.txt`, 0o444),
    patch: patch("*** Add File: made", "+new", "*** Add File: hello.txt", "+new"),
    texts: "Failed to write file WS/hello.txt\nCaused by: the file is read-only\n",
    // As with the original, the changes before the failure remain.
    file: "made",
    content: "new\n",
  },
  "that moves a file onto itself": {
    patch: patch(
      "*** Update File: hello.txt",
      "*** Move to: ./sub/../hello.txt",
      "@@",
      "-hello",
      "+new",
    ),
    texts: "Success. Updated the following files:\nM ./sub/../hello.txt\n",
    file: "hello.txt",
    content: "new\nworld\n",
  },
  "that adds what is there": {
    patch: patch("*** Add File: hello.txt", "+new"),
    texts: "Success. Updated the following files:\nA hello.txt\n",
    file: "hello.txt",
    content: "new\n",
  },
  "with a path of NUL bytes": {
    patch: patch("*** Add File: a\0b", "+new"),
    texts: "error: Invalid path",
    file: "a",
    content: undefined,
  },
  "that does not fit": {
    patch: patch("*** Add File: made", "+new", "*** Update File: hello.txt", "@@", "-none", "+new"),
    texts: "error: Failed to find expected lines in WS/hello.txt:\nnone",
    file: "made",
    content: undefined,
  },
  "without an end": {
    patch: "*** Begin Patch\n*** Add File: made\n+new",
    texts: "error: invalid patch: The last line of the patch must be '*** End Patch'",
    file: "made",
    content: undefined,
  },
  "of nothing": {
    patch: patch(),
    texts: "patch rejected: empty patch",
    file: "hello.txt",
    content: "hello\nworld\n",
  },
  "of ten thousand hunks": {
    prepare: (ws) => Fs.writeFileSync(`${ws}/long`, `${numbers.join("\n")}\n`),
    patch: patch(
      "*** Update File: long",
      ...numbers.flatMap((line, n) => (n % 2 === 0 ? ["@@", `-${line}`, `+new ${n}`] : [])),
    ),
    texts: "Success. Updated the following files:\nM long\n",
    file: "long",
    content: `${numbers.map((line, n) => (n % 2 === 0 ? `new ${n}` : line)).join("\n")}\n`,
  },
  "of a thousand files": {
    patch: patch(
      ...Array.from({ length: 1000 }, (_, n) => [`*** Add File: many/${n}`, "+new"]).flat(),
    ),
    texts: "Success. Updated the following files:\nA many/0\n",
    file: "many/999",
    content: "new\n",
  },
}

const readMaybe = (path: string) =>
  Fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? Fs.readFileSync(path, "utf8")
    : undefined

describe("patches of any shape", () => {
  for (const [name, shape] of Object.entries(shapes)) {
    it.live(`L13 a patch ${name} has a clear end, and others are answered meanwhile`, () =>
      Effect.gen(function* () {
        const { prepare } = shape
        const { begin, workspace } = yield* stage(prepare === undefined ? {} : { prepare })
        const actor = yield* begin({
          settings: open,
          responses: [[calls("apply_patch", { input: shape.patch }, "a")]],
        })
        const other = yield* begin({
          settings: open,
          responses: [[calls("shell", { command: ["echo", "still here"] }, "a")]],
        })
        assert.deepStrictEqual((yield* other.outputs).map(textOf), ["still here\n"])
        const [output = ""] = yield* actor.outputs
        const texts = (output.startsWith("{") ? textOf(output) : output).replaceAll(workspace, "WS")
        assert.strictEqual(texts.slice(0, shape.texts.length), shape.texts)
        if (output.startsWith("{")) {
          assert.strictEqual(codeOf(output), texts.startsWith("Success") ? 0 : 1)
        }
        assert.strictEqual(readMaybe(`${workspace}/${shape.file}`), shape.content)
        assert.strictEqual(actor.messages.at(-1)?.type, "task_complete")
      }),
    )
  }
})
