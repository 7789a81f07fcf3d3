import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { PromptFileError, type PromptFiles } from "../../src/features/PromptFiles.ts"
import { codeOf } from "../support/Featuring.ts"
import { type Harness, withServer } from "../support/Harness.ts"

interface Stored {
  readonly text: string
  readonly modifiedMs: number
  readonly size?: number
}

/** A directory in memory that counts how often it is read. */
const directory = (initial: Readonly<Record<string, string>>) => {
  const files = new Map<string, Stored>()
  const reads: Array<string> = []
  const warnings: Array<string> = []
  const state = { broken: false, now: 0 }
  const put = (name: string, text: string, size?: number) =>
    files.set(name, { text, modifiedMs: ++state.now, ...(size === undefined ? {} : { size }) })
  for (const [name, text] of Object.entries(initial)) put(name, text)
  const prompts: PromptFiles = {
    list: Effect.suspend(() =>
      state.broken
        ? Effect.fail(new PromptFileError({ message: "no permission" }))
        : Effect.succeed(
            Array.from(files, ([name, { modifiedMs, size, text }]) => ({
              name,
              size: size ?? text.length,
              modifiedMs,
            })),
          ),
    ),
    read: (name) =>
      Effect.suspend(() => {
        reads.push(name)
        const text = files.get(name)?.text
        return text === undefined || text === "unreadable"
          ? Effect.fail(new PromptFileError({ message: "cannot be read" }))
          : Effect.succeed(text)
      }),
  }
  const logger = Logger.layer([
    Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(String(message))
    }),
  ])
  return { files, prompts, reads, warnings, state, put, logger }
}

const listed = (server: Harness, id: unknown) =>
  Effect.map(server.ask(id, "prompts/list"), ({ result }) => result?.["prompts"])

const names = (server: Harness, id: unknown) =>
  Effect.map(listed(server, id), (prompts) =>
    (prompts as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name),
  )

const text = (words: string) => ({
  messages: [{ role: "user", content: { type: "text", text: words } }],
})

describe("PromptBook", () => {
  it.effect("the files of the directory are prompts, with their arguments, by name", () => {
    const { logger, prompts } = directory({
      review: "---\ndescription: Reviews.\nargument-hint: [file]\n---\nReview $1 for $WHO.",
      hello: "Hello",
    })
    return withServer({ prompts }, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* listed(server, 1), [
          { name: "hello" },
          {
            name: "review",
            description: "Reviews.",
            arguments: [
              { name: "1", description: "[file]", required: false },
              { name: "WHO", required: true },
            ],
          },
        ])
        const get = (id: number, name: string, args: object) =>
          server.ask(id, "prompts/get", { name, arguments: args })
        assert.deepStrictEqual((yield* get(2, "review", { "1": "a.ts", WHO: "me" })).result, {
          description: "Reviews.",
          ...text("Review a.ts for me."),
        })
        assert.deepStrictEqual((yield* get(3, "hello", {})).result, text("Hello"))
        assert.strictEqual((yield* get(4, "review", { "1": "a.ts" })).error?.code, -32602)
        const long = { "1": "", WHO: "x".repeat(1024 * 1024) }
        assert.strictEqual(codeOf(yield* get(5, "review", long)), -32602)
      }),
    ).pipe(Effect.provide(logger))
  })

  it.effect("changes are visible at the next use, and unchanged files are not read again", () => {
    const { files, logger, prompts, put, reads } = directory({ a: "A", b: "B" })
    return withServer({ prompts }, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(reads, [])
        assert.deepStrictEqual(yield* names(server, 1), ["a", "b"])
        assert.deepStrictEqual(yield* names(server, 2), ["a", "b"])
        assert.deepStrictEqual(reads, ["a", "b"])
        files.delete("a")
        put("b", "B2")
        put("c", "C")
        const { result } = yield* server.ask(3, "prompts/get", { name: "b" })
        assert.deepStrictEqual(result, text("B2"))
        assert.deepStrictEqual(yield* names(server, 4), ["b", "c"])
        assert.deepStrictEqual(reads, ["a", "b", "b", "c"])
      }),
    ).pipe(Effect.provide(logger))
  })

  it.effect("leaves invalid files out, logs each once, and registers the others", () => {
    const { logger, prompts, put, warnings } = directory({
      good: "Good",
      empty: "",
      open: "---\nx: y",
      unreadable: "unreadable",
      "bad name": "x",
    })
    put("large", "x", 300_000)
    return withServer({ prompts }, (server) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* names(server, 1), ["good"])
        assert.deepStrictEqual(yield* names(server, 2), ["good"])
        assert.deepStrictEqual(warnings, [
          "prompt file bad name.md left out: expected 1 to 128 of the characters A-Z a-z 0-9 _ . -",
          "prompt file empty.md left out: the file is empty",
          "prompt file large.md left out: 300000 bytes, the limit is 262144",
          "prompt file open.md left out: the front matter in line 1 is not closed",
          "prompt file unreadable.md left out: cannot be read",
        ])
      }),
    ).pipe(Effect.provide(logger))
  })

  it.effect("logs once that a directory cannot be read, or has too many files", () => {
    const { logger, prompts, put, state, warnings } = directory({ a: "A" })
    return withServer({ prompts }, (server) =>
      Effect.gen(function* () {
        yield* names(server, 1)
        state.broken = true
        assert.deepStrictEqual(yield* names(server, 2), ["a"])
        assert.deepStrictEqual(yield* names(server, 3), ["a"])
        state.broken = false
        for (let i = 0; i < 300; i++) put(`p${1000 + i}`, "x")
        yield* names(server, 4)
        assert.deepStrictEqual(warnings, [
          "prompts not read: no permission",
          "301 prompt files, only the first 256 are used",
        ])
      }),
    ).pipe(Effect.provide(logger))
  })
})
