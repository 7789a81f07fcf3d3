/** Checks mcporter, which calls the server's tools from the command line. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { declaredOnPage, setup } from "./ClientsPage.ts"
import { describeClient } from "./Driver.ts"
import { leftIn, type Place, place, shell } from "./Place.ts"
import { recorder } from "./Recorder.ts"

beforeAll(buildIfMissing)

const client = "mcporter"

const prepare = ({ workspace }: Place, directory?: string): void => {
  mkdirSync(join(workspace, "config"))
  const settings = setup(client, "json", { DIR: directory })
  writeFileSync(join(workspace, "config", "mcporter.json"), settings)
}

const arrived = Effect.tap(place(client), (here) => Effect.sync(() => prepare(here)))

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

describeClient(client, () => {
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
      const { declared, directory } = recorder(here)
      prepare(here, directory)
      yield* called("codex.codex prompt='say hello'", here)
      assert.deepStrictEqual(declared(), declaredOnPage(client))
    }),
  )
})
