import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { list, read } from "../../src/machine/PromptDirectory.ts"
import { buildIfMissing } from "../support/BuiltProgram.ts"
import { home } from "../support/Home.ts"
import * as Server from "../support/Server.ts"

beforeAll(buildIfMissing)

/** A state directory with these files in `prompts`. */
const prompts = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Effect.map(home(), (directory) => {
    Fs.mkdirSync(`${directory}/prompts`)
    for (const [name, text] of Object.entries(files)) {
      Fs.writeFileSync(`${directory}/prompts/${name}`, text)
    }
    return directory
  })

const listed = (directory: string) => Effect.promise(() => list(directory))

describe("PromptDirectory", () => {
  it.live("lists the files that end in .md, links followed, and nothing else", () =>
    Effect.gen(function* () {
      const directory = yield* prompts({ "a.md": "A", "b.txt": "B", ".md": "x" })
      Fs.mkdirSync(`${directory}/prompts/folder.md`)
      Fs.symlinkSync(`${directory}/prompts/a.md`, `${directory}/prompts/link.md`)
      Fs.symlinkSync(`${directory}/nowhere`, `${directory}/prompts/dangling.md`)
      const found = yield* listed(directory)
      assert.sameDeepMembers(
        found.map(({ name, size }) => [name, size]),
        [
          ["", 1],
          ["a", 1],
          ["link", 1],
        ],
      )
      const [a] = found.filter(({ name }) => name === "a")
      assert.strictEqual(a?.modifiedMs, Fs.statSync(`${directory}/prompts/a.md`).mtimeMs)
    }),
  )

  it.live("is empty when there is no directory", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* listed(yield* home()), [])
    }),
  )

  it.live("reads at most the requested number of bytes, and no other encoding", () =>
    Effect.gen(function* () {
      const directory = yield* prompts({ "a.md": "0123456789", "b.md": new Uint8Array([0xff]) })
      assert.strictEqual(yield* Effect.promise(() => read(directory, "a", 4)), "0123")
      const bad = yield* Effect.exit(Effect.tryPromise(() => read(directory, "b", 4)))
      assert.strictEqual(bad._tag, "Failure")
    }),
  )

  it.live("the built server offers them, and logs the invalid ones on stderr", () =>
    Effect.gen(function* () {
      const directory = yield* prompts({
        "greet.md": "---\ndescription: Greets.\n---\nSay hello to $WHO.",
        "bad.md": new Uint8Array([0xff]),
      })
      const server = yield* Server.ready({ home: directory })
      server.send({ jsonrpc: "2.0", id: 1, method: "prompts/list" })
      const list = yield* server.answer(1)
      assert.deepStrictEqual(list.result?.["prompts"], [
        {
          name: "greet",
          description: "Greets.",
          arguments: [{ name: "WHO", required: true }],
        },
      ])
      server.send({
        jsonrpc: "2.0",
        id: 2,
        method: "prompts/get",
        params: { name: "greet", arguments: { WHO: "Ann" } },
      })
      const got = yield* server.answer(2)
      assert.deepStrictEqual(got.result?.["messages"], [
        { role: "user", content: { type: "text", text: "Say hello to Ann." } },
      ])
      assert.include(server.stderr(), "prompt file bad.md left out: is not UTF-8")
    }),
  )
})
