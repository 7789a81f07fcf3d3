import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { type StateToken, tokenOf } from "../../src/http/TokenFile.ts"

const inFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-token-"))),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, maxRetries: 10 })),
  )

const program = `
import { tokenOf } from ${JSON.stringify(new URL("../../src/http/TokenFile.ts", import.meta.url).href)}
import * as Effect from "effect/Effect"
console.log(JSON.stringify(Effect.runSync(tokenOf(process.argv[1]))))
`

/** The token that a process of its own finds or creates. */
const printed = (folder: string) =>
  Effect.map(
    Effect.promise(() =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, folder], {
        cwd: import.meta.dirname,
      }),
    ),
    ({ stdout }) => JSON.parse(stdout) as StateToken,
  )

const refused = (folder: string) =>
  Effect.map(Effect.flip(tokenOf(folder)), ({ message }) => message)

describe("the token of a state directory", () => {
  it.effect("is created once, for the owner only, and is the same afterwards", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const state = join(folder, "new", "state")
        const first = yield* tokenOf(state)
        assert.isTrue(first.isNew)
        assert.match(first.token, /^[\w-]{43}$/)
        assert.strictEqual(statSync(first.path).mode & 0o777, 0o600)
        assert.strictEqual(readFileSync(first.path, "utf8"), `${first.token}\n`)
        assert.deepStrictEqual(yield* tokenOf(state), { ...first, isNew: false })
        assert.deepStrictEqual(readdirSync(state), ["http-token"])
      }),
    ),
  )

  it.live("is that of the first process where several start at once", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const found = yield* Effect.all(
          Array.from({ length: 4 }, () => printed(folder)),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(new Set(found.map(({ token }) => token)).size, 1)
        assert.strictEqual(found.filter(({ isNew }) => isNew).length, 1)
        assert.deepStrictEqual(readdirSync(folder), ["http-token"])
      }),
    ),
  )

  it.effect("is refused where other users can read it, and the error does not contain it", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const { path, token } = yield* tokenOf(folder)
        chmodSync(path, 0o640)
        const message = yield* refused(folder)
        assert.include(message, path)
        assert.include(message, "chmod 600")
        assert.notInclude(message, token)
      }),
    ),
  )

  it.effect("is refused where it can be guessed or is no token", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        for (const text of [
          "",
          "secret",
          `${"a".repeat(31)}\n`,
          `${"a".repeat(32)} b`,
          "ä".repeat(40),
        ]) {
          writeFileSync(join(folder, "http-token"), text, { mode: 0o600 })
          assert.include(yield* refused(folder), "expected one token of 32 or more characters")
        }
        writeFileSync(join(folder, "http-token"), `  ${"a".repeat(32)}\n`)
        assert.strictEqual((yield* tokenOf(folder)).token, "a".repeat(32))
      }),
    ),
  )

  it.effect("is not created where nothing can be written", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, "file"), "")
        assert.include(yield* refused(join(folder, "file", "state")), join("state", "http-token"))
      }),
    ),
  )
})
