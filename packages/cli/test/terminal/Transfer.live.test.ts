/** What `sessions transfer` refuses; `Databases.long.live.test.ts` has what it copies. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "../support/BuiltProgram.ts"
import * as Home from "../support/Home.ts"
import * as Program from "../support/Program.ts"

beforeAll(buildIfMissing, 120_000)

const places =
  "`files`, `files:DIRECTORY`, `sqlite:PATH` or `postgres://user:password@host/database`, with a user, and each special character of a part as `%XX`"

const usageErrors: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
  [[], "Missing required flag: --from or --to"],
  [["--to", "elsewhere"], `Invalid value for flag --to: "elsewhere". Expected: ${places}`],
  [
    ["--from", "postgres://host/database"],
    `Invalid value for flag --from: "postgres://host/database". Expected: ${places}`,
  ],
  [["--from", "memory"], `Invalid value for flag --from: "memory". Expected: ${places}`],
]

const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
  [["--to", "files"], "`--from` and `--to` name the same store"],
  [
    ["--to", "files", "-c", "conversation_store=memory"],
    "`conversation_store` is `memory`, which keeps nothing: name a store with `--from`",
  ],
  [["--to", "sqlite:x.sqlite", "no-id"], "invalid conversation id `no-id`: "],
]

describe("sessions transfer", () => {
  it.live.each(refusals)("%j is refused", ([args, message]) =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const env = { HOME: home, COLLOQUY_HOME: home }
      const refused = Program.run(["sessions", "transfer", ...args], { env, cwd: home })
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.include(refused.stderr, `colloquy: ${message}`)
    }).pipe(Effect.scoped),
  )

  it.live.each(usageErrors)("%j is a usage error", ([args, message]) =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const env = { HOME: home, COLLOQUY_HOME: home }
      const refused = Program.run(["sessions", "transfer", ...args], { env, cwd: home })
      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      assert.include(refused.stderr, `colloquy: ${message}`)
    }).pipe(Effect.scoped),
  )

  it.live("without conversations there is nothing to copy", () =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const env = { HOME: home, COLLOQUY_HOME: home }
      const args = ["sessions", "transfer", "--to", `files:${home}/other`]
      const { code, stdout } = Program.run(args, { env, cwd: home })
      assert.deepStrictEqual([code, stdout], [0, "There are no conversations to copy.\n"])
    }).pipe(Effect.scoped),
  )
})
