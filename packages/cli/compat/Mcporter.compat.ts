/** Checks mcporter, which calls the server's tools from the command line. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { describeClient } from "./Driver.ts"
import { leftIn, type Place, place, shell } from "./Place.ts"
import { overHttp, overStdio, type Reach } from "./Reach.ts"

beforeAll(buildIfMissing)

const client = "mcporter"

const prepare = ({ workspace }: Place, setup: string): void => {
  mkdirSync(join(workspace, "config"))
  writeFileSync(join(workspace, "config", "mcporter.json"), setup)
}

const arrivedBy = ({ setup }: Reach) =>
  Effect.gen(function* () {
    const here = yield* place(client)
    prepare(here, yield* setup(here))
    return here
  })

interface Content {
  readonly threadId: string
  readonly content: string
}

/** Runs a call and returns what mcporter prints: the structured content. */
const called = (words: string, here: Place) =>
  Effect.map(shell(`mcporter call ${words} --output json`, here), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, 0, stderr)
    return JSON.parse(stdout) as Content
  })

const run = "run: touch made.txt && echo it was made"

const checks = (reach: Reach) => {
  const arrived = arrivedBy(reach)

  it.live("shows the server as healthy, and its tools", () =>
    Effect.gen(function* () {
      const here = yield* arrived
      const list = yield* shell("mcporter list", here)
      assert.strictEqual(list.code, 0, list.stderr)
      assert.include(list.stdout, "1 healthy")
      const { stdout } = yield* shell("mcporter list codex --json", here)
      const { tools } = JSON.parse(stdout) as { readonly tools: ReadonlyArray<{ name: string }> }
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["codex", "codex-reply"],
      )
    }),
  )

  it.live("L8 a conversation of two turns, each in its own process, and none is left behind", () =>
    Effect.gen(function* () {
      const here = yield* arrived
      const { content, threadId } = yield* called("codex.codex prompt='say one'", here)
      assert.strictEqual(content, "one")
      const reply = `codex.codex-reply threadId=${threadId} prompt='say two'`
      const second = yield* called(reply, here)
      assert.strictEqual(second.content, "two")
      assert.strictEqual(second.threadId, threadId)
      assert.deepStrictEqual(yield* leftIn(here), [])
    }),
  )

  it.live("a command that needs an approval is denied at once, and the turn continues", () =>
    Effect.gen(function* () {
      const here = yield* arrived
      const made = join(here.workspace, "made.txt")
      // The server starts in the directory of the configuration.
      const call = `codex.codex prompt='${run}' cwd=${here.workspace}`
      const { content } = yield* called(call, here)
      assert.include(content, "rejected")
      assert.isFalse(existsSync(made))
      const allowed = yield* called(`${call} approval-policy=never`, here)
      assert.include(allowed.content, "it was made")
      assert.isTrue(existsSync(made))
    }),
  )

  it.live("an error of a call is printed, and the exit code is 1", () =>
    Effect.gen(function* () {
      const here = yield* arrived
      const { code, stderr, stdout } = yield* shell("mcporter call codex.codex promt=hi", here)
      assert.strictEqual(code, 1)
      assert.include(`${stdout}${stderr}`, "`promt`, did you mean `prompt`?")
    }),
  )

  it.live("declares to the server what the page says", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const { declared, setup } = yield* reach.recorded(here)
      prepare(here, setup)
      yield* called("codex.codex prompt='say hello'", here)
      assert.deepStrictEqual(declared(), reach.expected)
    }),
  )
}

describeClient(client, () => {
  describe("standard streams", () => checks(overStdio(client, "json")))
  describe("HTTP", () => checks(overHttp(client, "json")))
})
