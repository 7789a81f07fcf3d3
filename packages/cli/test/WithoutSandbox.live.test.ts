/** Tests the built server on a machine without a sandbox when the model reads the secrets of the state directory. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "./support/Bubblewrap.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

const secret = "sk-secret-of-the-state"

/** Everything that the server sent while the offline model ran `cat` on `auth.json`. */
const sentFor = (approval: string, sandbox: string) =>
  Effect.gen(function* () {
    const directory = yield* home()
    Fs.writeFileSync(`${directory}/auth.json`, JSON.stringify({ OPENAI_API_KEY: secret }))
    Fs.writeFileSync(`${directory}/config.toml`, 'model_provider = "offline"\n')
    const server = yield* Server.ready({ home: directory, withoutSandbox: true })
    const prompt = `run: cat ${directory}/auth.json`
    server.call(1, "codex", { prompt, "approval-policy": approval, sandbox })
    yield* server.answer(1)
    return JSON.stringify(server.frames)
  }).pipe(Effect.scoped)

describe.skipIf(!hasBubblewrap)("colloquy mcp on a machine that cannot confine", () => {
  for (const sandbox of ["read-only", "workspace-write"]) {
    it.live(
      `L15 refuses under never, ${sandbox}, to read auth.json, and says what to install`,
      () =>
        Effect.gen(function* () {
          const sent = yield* sentFor("never", sandbox)
          assert.notInclude(sent, secret)
          assert.notInclude(sent, "exec_command_begin")
          const reason =
            "bubblewrap (bwrap) cannot be used: /usr/bin/bwrap: it is no executable file"
          assert.include(sent, reason)
          assert.include(sent, "(install bubblewrap")
        }),
    )

    // The client cannot be asked, which denies the command.
    it.live(`L15 does not run it without asking under untrusted, ${sandbox}`, () =>
      Effect.gen(function* () {
        const sent = yield* sentFor("untrusted", sandbox)
        assert.notInclude(sent, secret)
        assert.notInclude(sent, "exec_command_begin")
      }),
    )
  }

  it.live("without the protection it is read: full access by policy", () =>
    Effect.gen(function* () {
      assert.include(yield* sentFor("never", "danger-full-access"), secret)
    }),
  )
})
