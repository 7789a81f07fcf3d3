import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { execFileSync } from "node:child_process"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as AuthFile from "../../src/auth/AuthFile.ts"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import { linesOf } from "../../src/config/ConfigLines.ts"
import { edited } from "../../src/config/ConfigWriter.ts"

const tokens = {
  idToken: Redacted.make("i"),
  accessToken: Redacted.make("a"),
  refreshToken: Redacted.make("r"),
}

const directory = Effect.acquireRelease(
  Effect.sync(() => FS.mkdtempSync(join(tmpdir(), "colloquy-hostile-"))),
  (path) => Effect.sync(() => FS.rmSync(path, { recursive: true, maxRetries: 10, force: true })),
)

describe("a state directory prepared by an attacker", () => {
  it.live(
    "L13 with pipes and devices in place of its files: each is refused at once, by name",
    () =>
      Effect.gen(function* () {
        const home = yield* directory
        for (const make of [
          (path: string) => execFileSync("mkfifo", [path]),
          (path: string) => FS.symlinkSync("/dev/zero", path),
        ]) {
          const [config, auth] = [join(home, "config.toml"), join(home, "auth.json")]
          make(config)
          make(auth)
          assert.deepStrictEqual(
            Result.mapError(ConfigFile.read(home), (problem) => problem),
            Result.fail(`${config}: is not a regular file`),
          )
          const fault = yield* Effect.flip(AuthFile.make(home).read)
          assert.strictEqual(fault.message, `${auth}: is not a regular file`)
          FS.rmSync(config)
          FS.rmSync(auth)
        }
      }),
  )

  it.live(
    "L13 with an auth.json that nests without end: it is refused, and a login replaces it",
    () =>
      Effect.gen(function* () {
        const home = yield* directory
        FS.writeFileSync(
          join(home, "auth.json"),
          `{"x":${"[".repeat(60_000)}${"]".repeat(60_000)}}`,
        )
        const file = AuthFile.make(home)
        const { message } = yield* Effect.flip(file.read)
        assert.match(message, /expected an object with `OPENAI_API_KEY` or `tokens`$/)
        yield* file.write({
          _tag: "Tokens",
          tokens,
          refreshedAt: "",
        })
        assert.strictEqual((yield* file.read)?._tag, "Tokens")
      }),
  )
})

describe("the position of a key", () => {
  it("L13 is absent for a text that only one of the two parsers accepts, and nothing is thrown", () => {
    for (const text of ["x = ", "[a", '"', `x = ${"[".repeat(100_000)}`, "\0"]) {
      assert.strictEqual(linesOf(text).size, 0, text.slice(0, 10))
    }
  })

  it(
    "L13 a file too long to be edited in time is left unchanged, with a message",
    { timeout: 20_000 },
    () => {
      const text = Array.from({ length: 100_000 }, (_, i) => `k${i} = 1`).join("\n")
      assert.strictEqual(
        Result.getOrThrow(Result.flip(edited(text, [{ path: ["model"], value: "m" }]))).message,
        `cannot be edited: has ${text.length} characters, expected at most 65536`,
      )
    },
  )
})
