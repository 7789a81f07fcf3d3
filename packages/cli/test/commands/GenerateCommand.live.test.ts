import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { filesOf, run } from "../../src/commands/GenerateCommand.ts"
import * as CliProcess from "../CliProcess.ts"

const tsc = fileURLToPath(new URL("../../../../node_modules/.bin/tsc", import.meta.url))

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-generate-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

const references = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    key === "$ref" && typeof one === "string" ? [one] : references(one),
  )
}

/** Directory of the committed contract, which people read and in which a review shows every change of the wire. */
const contract = new URL("../../../protocol/contract/", import.meta.url)

describe("generate", () => {
  const formats = ["ts", "json-schema", "docs"] as const

  it.each(formats.flatMap((format) => [...filesOf(format)]))(
    "%s equals the checked-in file, so that the contract cannot change unnoticed",
    async (name, text) => {
      // `vitest run … packages/cli/test/commands/GenerateCommand -u` writes it: a change of the wire shows in the diff.
      await expect(text).toMatchFileSnapshot(fileURLToPath(new URL(name, contract)))
    },
  )

  it("the folder of the contract has no other file", () => {
    const made = formats.flatMap((format) => [...filesOf(format).keys()])
    assert.deepStrictEqual(Fs.readdirSync(contract).toSorted(), made.toSorted())
  })

  it.live("the TypeScript of every dialect compiles on its own", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporary, "made")
      assert.strictEqual(run("ts", { out: directory }), 0)
      const files = Fs.readdirSync(directory)
      assert.deepStrictEqual(files.toSorted(), [...filesOf("ts").keys()].toSorted())
      const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"]
      // tsc prints what is wrong on stdout, and fails the test by its exit code.
      execFileSync(tsc, [...options, "--types", "", ...files], { cwd: directory, stdio: "pipe" })
    }).pipe(Effect.scoped),
  )

  it("every reference of the JSON Schema leads to a definition of the same document", () => {
    for (const [name, text] of filesOf("json-schema")) {
      const schema = JSON.parse(text) as { readonly $defs: Record<string, unknown> }
      const missing = references(schema).filter(
        (reference) => !Object.hasOwn(schema.$defs, reference.replace("#/$defs/", "")),
      )
      assert.deepStrictEqual(missing, [], name)
    }
  })

  it.live("only the named dialect is written", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      assert.strictEqual(run("ts", { dialect: "codex-mcp", out: directory }), 0)
      assert.deepStrictEqual(Fs.readdirSync(directory), ["codex-mcp.ts"])
    }).pipe(Effect.scoped),
  )

  it.live.each([
    ["ts", "codex-mcp.ts"],
    ["json-schema", "codex-mcp.schema.json"],
    ["docs", "codex-mcp.md"],
  ] as const)("stdout of generate-%s has the named dialect and nothing else", (row) =>
    Effect.gen(function* () {
      const [format, name] = row
      assert.deepStrictEqual(yield* CliProcess.run([`generate-${format}`, "codex-mcp"]), {
        code: 0,
        signal: null,
        stdout: Fs.readFileSync(new URL(name, contract), "utf8"),
        stderr: "",
      })
    }),
  )

  it.live("stdout never has two documents that are not one valid text together", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* CliProcess.run(["generate-json-schema"]), {
        code: 2,
        signal: null,
        stdout: "",
        stderr:
          "colloquy: `generate-json-schema` prints one dialect: name it (`app-server`, `app-server-v2` or `codex-mcp`), or write all with `-o DIRECTORY`; see `colloquy --help`\n",
      })
    }),
  )

  it.live("a directory that cannot be created ends it with 1", () =>
    Effect.gen(function* () {
      const file = join(yield* temporary, "file")
      Fs.writeFileSync(file, "")
      assert.strictEqual(run("docs", { out: join(file, "made") }), 1)
    }).pipe(Effect.scoped),
  )
})
