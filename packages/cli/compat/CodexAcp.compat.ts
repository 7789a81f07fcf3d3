/** Checks the bridge from the Agent Client Protocol to app-server v2, under a command line client, with this program as `codex`. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { describeClient, folderOf } from "./Driver.ts"
import { executable } from "./Executable.ts"
import { leftIn, type Place, place } from "./Place.ts"
import { run } from "./Program.ts"

beforeAll(buildIfMissing)

const client = "@agentclientprotocol/codex-acp"

const maxMs = 60_000

/** The client's exit code where a permission was denied. */
const denied = 5

/** One prompt, with the lines that a person sees. */
const prompted = (here: Place, permissions: string, prompt: string, code = 0) =>
  Effect.gen(function* () {
    const modules = join(folderOf(client), "node_modules")
    const codex = yield* executable({ COLLOQUY_HOME: join(here.home, ".colloquy") })
    const options = ["--auth-policy", "skip", "--timeout", "40", permissions]
    const bridge = `${process.execPath} ${join(modules, client, "dist/index.js")}`
    const finished = yield* Effect.promise(() =>
      run(
        {
          command: process.execPath,
          args: [join(modules, "acpx/dist/cli.js"), ...options, "--agent", bridge, "exec", prompt],
          cwd: here.workspace,
          env: { ...here.env, CODEX_PATH: codex },
        },
        maxMs,
      ),
    )
    assert.strictEqual(finished.code, code, finished.stderr)
    return finished.stdout
  })

const escalated = (path: string) => {
  const call = {
    command: ["touch", path],
    with_escalated_permissions: true,
    justification: "the file is needed",
  }
  return `call: shell ${JSON.stringify(call)}`
}

describeClient(client, () => {
  it.live("L8 a turn: its text arrives, the turn ends, and no process is left behind", () =>
    Effect.gen(function* () {
      const here = yield* place(client)
      const shown = yield* prompted(here, "--deny-all", "say it works over the bridge")
      assert.include(shown, "it works over the bridge")
      assert.include(shown, "end_turn")
      assert.deepStrictEqual(yield* leftIn(here), [])
    }),
  )

  for (const [permissions, code] of [
    ["--approve-all", 0],
    ["--deny-all", denied],
  ] as const) {
    it.live(
      `a command that needs an approval ${code === 0 ? "runs" : "does not run"} with ${permissions}`,
      () =>
        Effect.gen(function* () {
          const here = yield* place(client)
          const path = join(here.home, "made.txt")
          const shown = yield* prompted(here, permissions, escalated(path), code)
          assert.include(shown, "session/request_permission")
          assert.include(shown, "end_turn")
          assert.strictEqual(existsSync(path), code === 0)
        }),
    )
  }
})
