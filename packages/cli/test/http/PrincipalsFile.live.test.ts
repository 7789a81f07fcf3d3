import { knownToken } from "@colloquy/transport-http/guard/Principals"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { open } from "../../src/http/PrincipalsFile.ts"

const inFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "colloquy-principals-")))),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, maxRetries: 10 })),
  )

const { sha256 } = knownToken("secret-of-alice", "alice")
const other = knownToken("secret-of-bob", "bob").sha256

const write = (folder: string, text: string, mode = 0o600) => {
  const path = join(folder, "principals.toml")
  writeFileSync(path, text)
  chmodSync(path, mode)
}

const alice = `[principals.alice]\ntokens = ["${sha256}"]\n`

describe("principals.toml", () => {
  it.effect("names principals by the hashes of their tokens, with their quotas and roots", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        write(
          folder,
          `[default]\nmax_turns = 2\n${alice}max_conversations = 100\nworkspace_root = "/srv/alice"\n[principals."oauth:ada"]\nmax_turns = 1\n`,
        )
        const { quotaOf, tokens, workspaces } = yield* open(folder)
        assert.deepStrictEqual(yield* tokens, [{ principal: "alice", sha256 }])
        assert.deepStrictEqual(quotaOf("alice"), { maxConversations: 100 })
        assert.deepStrictEqual(quotaOf("oauth:ada"), { maxTurns: 1 })
        assert.deepStrictEqual(quotaOf("oauth:bob"), { maxTurns: 2 })
        assert.deepStrictEqual(quotaOf("constructor"), { maxTurns: 2 })
        assert.isUndefined(quotaOf(null))
        assert.strictEqual(workspaces.rootOf("alice"), "/srv/alice")
        assert.isUndefined(workspaces.rootOf("oauth:ada"))
        assert.isUndefined(workspaces.rootOf("local"))
      }),
    ),
  )

  it.effect("a directory without the file has no principals", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const { quotaOf, tokens } = yield* open(folder)
        assert.deepStrictEqual(yield* tokens, [])
        assert.isUndefined(quotaOf("alice"))
      }),
    ),
  )

  it.effect("a change has effect at the next request; one that is not valid has none", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        write(folder, alice)
        const { tokens } = yield* open(folder)
        assert.lengthOf(yield* tokens, 1)
        write(folder, `${alice}[principals.bob]\ntokens = ["${other}"]\n`)
        assert.lengthOf(yield* tokens, 2)
        write(folder, "[principals.alice\n")
        assert.lengthOf(yield* tokens, 2)
        write(folder, alice, 0o644)
        assert.lengthOf(yield* tokens, 2)
        write(folder, alice)
        assert.lengthOf(yield* tokens, 1)
        rmSync(join(folder, "principals.toml"))
        assert.lengthOf(yield* tokens, 0)
        // Long after a change the file is not read again, and the next change is still seen.
        write(folder, alice)
        yield* TestClock.setTime(Date.now() + 60_000)
        assert.lengthOf(yield* tokens, 1)
        assert.lengthOf(yield* tokens, 1)
        write(folder, "")
        assert.lengthOf(yield* tokens, 0)
      }),
    ),
  )

  it.effect.each([
    ["readable by others", alice, 0o640, "other users may read it"],
    ["no TOML", "[principals.alice\n", 0o600, "principals.toml: "],
    ["a token in the open", `[principals.alice]\ntokens = ["secret"]\n`, 0o600, "principals.alice"],
    ["an unknown key", `[principals.alice]\ntoken = "x"\n`, 0o600, "principals.alice"],
    ["the user of the server", `[principals.local]\ntokens = []\n`, 0o600, "principals.local"],
    ["a relative root", `[default]\nworkspace_root = "a"\n`, 0o600, "default.workspace_root"],
    ["a negative limit", `[default]\nmax_turns = -1\n`, 0o600, "default.max_turns"],
  ] as const)("%s: refused", ([, text, mode, expected]) =>
    inFolder((folder) =>
      Effect.gen(function* () {
        write(folder, text, mode)
        const { message } = yield* Effect.flip(open(folder))
        assert.include(message, expected)
        assert.include(message, folder)
        assert.notInclude(message, sha256)
      }),
    ),
  )

  it.effect("paths are resolved through links; what is not there has none", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        mkdirSync(join(folder, "a"))
        symlinkSync("/etc", join(folder, "out"))
        symlinkSync(join(folder, "loop"), join(folder, "loop"))
        const { realPath } = (yield* open(folder)).workspaces
        assert.strictEqual(yield* realPath(join(folder, "a")), join(folder, "a"))
        assert.strictEqual(yield* realPath(join(folder, "out")), "/etc")
        assert.isUndefined(yield* realPath(join(folder, "missing")))
        assert.isUndefined(yield* realPath(join(folder, "loop")))
        assert.isUndefined(yield* realPath("a\0b"))
      }),
    ),
  )
})
