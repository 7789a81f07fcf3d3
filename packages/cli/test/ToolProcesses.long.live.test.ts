import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { hasBubblewrap } from "./support/Bubblewrap.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home, scripted } from "./support/Home.ts"
import { awaitGone, descendantsOf, mark, runningWith } from "./support/Processes.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

/** Longer in ms than a shutdown takes while a command runs, for the turn's grace, its abort and the flush, on a loaded machine. */
const boundMs = 20_000

/** A process family: two run in the background, one of them in a separate session when `setsid` is given. */
const family = (seconds: string, setsid: string) =>
  `trap '' TERM; (sleep ${seconds}; true) & ${setsid} sleep ${seconds} & echo up; sleep ${seconds}; true`

interface Case {
  readonly sandbox: "danger-full-access" | "workspace-write"
  readonly setsid: string
  readonly possible: boolean
}

const cases: Readonly<Record<string, Case>> = {
  "a command and its grandchildren": {
    sandbox: "danger-full-access",
    setsid: "",
    possible: true,
  },
  "a command in the sandbox, whatever session its children are in": {
    sandbox: "workspace-write",
    setsid: "setsid",
    possible: hasBubblewrap,
  },
}

/** A server that runs such a family for the call with id 1. Resolves when all of its processes run. */
const running = Effect.fnUntraced(function* ({ sandbox, setsid }: Case, seconds: string) {
  const command = ["bash", "-c", family(seconds, setsid)]
  const directory = yield* scripted([
    [{ tool_call: { name: "shell", arguments: { command, timeout_ms: 600_000 } } }],
    [{ text: "never said" }],
  ])
  const server = yield* Server.ready({ home: directory })
  const cwd = yield* home()
  server.call(1, "codex", { prompt: "go", sandbox, "approval-policy": "never", cwd })
  yield* server.event("exec_command_output_delta", 1)
  return server
})

describe.skipIf(process.platform !== "linux")("processes that the built server started", () => {
  for (const [name, kind] of Object.entries(cases)) {
    it.live.skipIf(!kind.possible)(`L8 kill -9 of the server leaves nothing of ${name}`, () =>
      Effect.gen(function* () {
        const seconds = mark()
        const server = yield* running(kind, seconds)
        const started = descendantsOf(server.pid)
        assert.isAtLeast(runningWith(seconds).length, 3)
        server.child.kill("SIGKILL")
        yield* server.exit
        assert.deepStrictEqual(yield* Effect.promise(() => awaitGone(started, seconds)), [])
      }),
    )

    it.live.skipIf(!kind.possible)(
      `L9 L8 end of input ends the server within its bound and leaves nothing of ${name}`,
      () =>
        Effect.gen(function* () {
          const seconds = mark()
          const server = yield* running(kind, seconds)
          const started = descendantsOf(server.pid)
          const began = performance.now()
          server.child.stdin.end()
          assert.deepStrictEqual(yield* server.exit, { code: 0, signal: null })
          assert.isBelow(performance.now() - began, boundMs)
          assert.deepStrictEqual(yield* Effect.promise(() => awaitGone(started, seconds)), [])
          assert.strictEqual(server.eventTypes(1).at(-1), "turn_aborted")
        }),
    )
  }

  for (const [name, kind] of Object.entries(cases)) {
    it.live.skipIf(!kind.possible)(
      `L8 L14 a cancelled call leaves nothing of ${name}, is not answered, and the server continues`,
      () =>
        Effect.gen(function* () {
          const seconds = mark()
          const server = yield* running(kind, seconds)
          server.send({ method: "notifications/cancelled", params: { requestId: 1 } })
          yield* server.event("turn_aborted", 1)
          // The process that guards the commands lives as long as the server.
          assert.deepStrictEqual(yield* Effect.promise(() => awaitGone([], seconds)), [])
          server.send({ id: 2, method: "ping" })
          yield* server.until(({ id }) => id === 2)
          assert.isFalse(server.frames.some(({ id }) => id === 1))
        }),
    )
  }

  it.live.skipIf(!hasBubblewrap)(
    "kill -9 of the server leaves no placeholder of a missing directory, and no file is lost",
    () =>
      Effect.gen(function* () {
        const seconds = mark()
        const directory = yield* scripted([
          [
            {
              tool_call: {
                name: "shell",
                arguments: { command: ["bash", "-c", `echo up; sleep ${seconds}`] },
              },
            },
          ],
        ])
        const server = yield* Server.ready({ home: directory })
        const [cwd, other] = [join(yield* home(), "a b'c"), yield* home()]
        mkdirSync(cwd)
        const settings = { sandbox: "workspace-write", "approval-policy": "never" }
        for (const [id, at] of [
          [1, cwd],
          [2, other],
        ] as const) {
          server.call(id, "codex", { prompt: "go", ...settings, cwd: at })
          yield* server.event("exec_command_output_delta", id)
        }
        const git = [join(cwd, ".git"), join(other, ".git")]
        assert.deepStrictEqual(git.map(existsSync), [true, true])
        writeFileSync(join(other, ".git", "HEAD"), "ref: refs/heads/main\n")
        const started = descendantsOf(server.pid)
        server.child.kill("SIGKILL")
        yield* server.exit
        assert.deepStrictEqual(yield* Effect.promise(() => awaitGone(started, seconds)), [])
        assert.isFalse(existsSync(join(cwd, ".git")))
        assert.deepStrictEqual(readdirSync(join(other, ".git")), ["HEAD"])
      }),
  )

  it.live("L8 kill -9 of the server leaves nothing of a tool server that hangs in a call", () =>
    Effect.gen(function* () {
      const word = mark()
      const fixture = fileURLToPath(
        new URL("../../tools/test/mcp/fixtures/server.mjs", import.meta.url),
      )
      const directory = yield* scripted([
        [
          { tool_call: { name: "fixture__pid", arguments: {} } },
          { tool_call: { name: "fixture__hang", arguments: {} } },
        ],
        [{ text: "never said" }],
      ])
      appendFileSync(
        `${directory}/config.toml`,
        `[mcp_servers.fixture]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(fixture)}, "none", "${word}"]\n`,
      )
      const server = yield* Server.ready({ home: directory })
      server.call(1, "codex", { prompt: "go", sandbox: "danger-full-access" })
      yield* server.until(
        ({ params }) =>
          params?.msg?.type === "mcp_tool_call_begin" &&
          JSON.stringify(params.msg).includes("hang"),
      )
      const started = descendantsOf(server.pid)
      assert.isNotEmpty(runningWith(word))
      server.child.kill("SIGKILL")
      yield* server.exit
      assert.deepStrictEqual(yield* Effect.promise(() => awaitGone(started, word)), [])
    }),
  )
})
