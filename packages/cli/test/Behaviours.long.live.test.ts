/** Runs the shared behaviours of the server over the standard streams of the built program. */
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import { beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { suite } from "../../server/test/behaviours/All.ts"
import type { World } from "../../server/test/behaviours/Behaviour.ts"
import { speak } from "../../server/test/behaviours/Speaker.ts"
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { home } from "./support/Home.ts"
import { environment } from "./support/Server.ts"

beforeAll(buildIfMissing)

/** Starts the built server; it runs until the scope closes. It turns every call that may be a task into one at once. */
const launched = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [entry, "mcp", "-c", "mcp_task_after_ms=0"], {
        cwd: directory,
        env: environment({ home: directory, env: { COLLOQUY_LOG: "error" } }),
        stdio: ["pipe", "pipe", "ignore"],
      }),
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      }),
  )

/** Writes the prompts of a world as files. */
const writePrompts = (directory: string) => {
  const folder = join(directory, "prompts")
  mkdirSync(folder)
  writeFileSync(join(folder, "greet.md"), "---\ndescription: Greets somebody.\n---\nHello $WHO\n")
  for (let n = 0; n <= 100; n++) writeFileSync(join(folder, `many-${n}.md`), "one\n")
}

const stdioWorld = (revision: Revision): Effect.Effect<World, never, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* home()
    writePrompts(directory)
    return {
      revision,
      cwd: directory,
      pass: Effect.sleep,
      speak: (capabilities = {}) =>
        Effect.gen(function* () {
          const { stdin, stdout } = yield* launched(directory)
          const connection = yield* StdioConnection.make({ input: stdout, output: stdin })
          return yield* speak(connection, { revision, capabilities })
        }),
    }
  })

for (const { behaviours, revision } of suite) {
  describe.concurrent(`${revision} over stdio`, () => {
    for (const { name, run } of behaviours) {
      it.live(name, () => Effect.flatMap(stdioWorld(revision), run))
    }
  })
}
