/** Tests the `notify` setting of `config.toml` on the built program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import * as CliProcess from "./CliProcess.ts"
import { home } from "./support/Home.ts"
import { awaitGone, mark } from "./support/Processes.ts"
import * as Server from "./support/Server.ts"

/** A directory outside the directory for temporary files, because no program there is trusted. */
const ground = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync("/var/tmp/colloquy-notify-"))),
  (base) => Effect.sync(() => Fs.rmSync(base, { recursive: true, maxRetries: 10 })),
)

interface Program {
  readonly path: string
  /** The line of `config.toml` that names the program. */
  readonly line: string
  /** The JSON arguments with which the program was started, in order. */
  readonly seen: () => ReadonlyArray<Record<string, unknown>>
  /** Waits until the program was started `count` times. */
  readonly times: (count: number) => Effect.Effect<ReadonlyArray<Record<string, unknown>>>
}

/** A program that saves its last argument and then runs the commands in `more`. */
const program = Effect.fnUntraced(function* (more = "") {
  const base = yield* ground
  const path = join(base, "notify")
  const out = join(base, "seen")
  const body = `for last in "$@"; do :; done; printf '%s\\n' "$last" >> ${out}; ${more}`
  Fs.writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  const seen: Program["seen"] = () =>
    Fs.existsSync(out)
      ? Fs.readFileSync(out, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line): Record<string, unknown> => JSON.parse(line))
      : []
  const made: Program = {
    path,
    line: `notify = ${JSON.stringify([path, "first"])}`,
    seen,
    times: Effect.fnUntraced(function* (count) {
      while (seen().length < count) yield* Effect.sleep("20 millis")
      return seen()
    }),
  }
  return made
})

const answered = Effect.fnUntraced(function* (
  server: Server.Server,
  id: number,
  tool: string,
  args: unknown,
) {
  server.call(id, tool, args)
  return yield* server.answer(id)
})

const threadOf = (frame: Server.Frame) =>
  (frame.result?.["structuredContent"] as { readonly threadId: string } | undefined)?.threadId

const config = (line: string) => ({ "config.toml": `${line}\nmodel_provider = "offline"\n` })

describe("notify", () => {
  it.live("is started after each completed turn, of tools and of the app-server", () =>
    Effect.gen(function* () {
      const notify = yield* program()
      const server = yield* Server.ready({ home: yield* home(config(notify.line)) })
      const threadId = threadOf(
        yield* answered(server, 1, "codex", { prompt: "say one", cwd: "/" }),
      )
      const [first] = yield* notify.times(1)
      assert.deepStrictEqual(first, {
        type: "agent-turn-complete",
        "thread-id": threadId,
        "turn-id": "1",
        cwd: "/",
        "input-messages": ["say one"],
        "last-assistant-message": "one",
      })
      yield* answered(server, 2, "codex-reply", { threadId, prompt: "say two" })
      const [, second] = yield* notify.times(2)
      assert.deepStrictEqual(
        [second?.["thread-id"], second?.["input-messages"], second?.["last-assistant-message"]],
        [threadId, ["say one", "say two"], "two"],
      )
      server.send({ id: 3, method: "newConversation", params: {} })
      const { conversationId } = (yield* server.answer(3)).result as Record<string, unknown>
      const items = [{ type: "text", data: { text: "say three" } }]
      server.send({ id: 4, method: "sendUserMessage", params: { conversationId, items } })
      const [, , third] = yield* notify.times(3)
      assert.deepStrictEqual(
        [third?.["thread-id"], third?.["last-assistant-message"]],
        [conversationId, "three"],
      )
    }).pipe(Effect.scoped),
  )

  it.live("L15 is set only by the file, neither by `config` of a client nor by `-c`", () =>
    Effect.gen(function* () {
      const [own, other] = [yield* program(), yield* program()]
      const directory = yield* home(config(own.line))
      const server = yield* Server.ready({ home: directory })
      const given = { notify: [other.path] }
      yield* answered(server, 1, "codex", { prompt: "say one", config: given })
      yield* own.times(1)
      assert.include(
        server.stderr(),
        "conversation config: `notify`: ignored, only config.toml may set this key",
      )
      const cli = yield* CliProcess.start(
        ["-c", other.line, "-c", "shutdown_grace_ms=20000", "mcp"],
        { COLLOQUY_HOME: directory },
      )
      const call = { name: "codex", arguments: { prompt: "say two" } }
      cli.write(
        { jsonrpc: "2.0", ...Server.initialize },
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: call },
      )
      yield* own.times(2)
      cli.child.stdin.end()
      const { stderr } = yield* cli.outcome
      assert.include(stderr, "colloquy: -c notify: ignored, only config.toml may set this key\n")
      assert.deepStrictEqual(other.seen(), [])
      const shown = yield* CliProcess.run(["-c", other.line, "config"], {
        COLLOQUY_HOME: directory,
      })
      assert.match(shown.stdout, /^notify = \["\/var\/tmp\/\S+", "first"\] .*# config\.toml:1$/m)
    }).pipe(Effect.scoped),
  )

  it.live("applies as the file is when the turn completes; errors are logged", () =>
    Effect.gen(function* () {
      const [before, notify] = [yield* program(), yield* program("exit 3")]
      const directory = yield* home(config(before.line))
      const server = yield* Server.ready({ home: directory })
      const write = (line: string) =>
        Fs.writeFileSync(join(directory, "config.toml"), config(line)["config.toml"])
      const logged = Effect.fnUntraced(function* (text: string) {
        while (!server.stderr().includes(text)) yield* Effect.sleep("20 millis")
      })
      yield* answered(server, 1, "codex", { prompt: "say one" })
      yield* before.times(1)
      write(notify.line)
      const threadId = threadOf(yield* answered(server, 2, "codex", { prompt: "say two" }))
      assert.strictEqual((yield* notify.times(1))[0]?.["last-assistant-message"], "two")
      yield* logged(`notify: ${notify.path} ended with exit code 3`)
      write('notify = ["./notify"]')
      yield* answered(server, 3, "codex-reply", { threadId, prompt: "say three" })
      yield* logged("./notify is refused: expected an absolute path, or a name")
      write("notify = 5")
      yield* answered(server, 4, "codex-reply", { threadId, prompt: "say four" })
      yield* logged("notify: expected an array of strings")
      assert.strictEqual(notify.seen().length, 1)
    }).pipe(Effect.scoped),
  )

  it.live("a turn never waits for it, and it runs also when the client leaves at once", () =>
    Effect.gen(function* () {
      const word = mark()
      const notify = yield* program(`sleep ${word}`)
      const server = yield* Server.ready({ home: yield* home(config(notify.line)) })
      const threadId = threadOf(yield* answered(server, 1, "codex", { prompt: "say one" }))
      yield* notify.times(1)
      yield* answered(server, 2, "codex-reply", { threadId, prompt: "say two" })
      server.child.stdin.end()
      yield* server.exit
      assert.deepStrictEqual(
        notify.seen().map((one) => one["last-assistant-message"]),
        ["one", "two"],
      )
      assert.deepStrictEqual(yield* Effect.promise(() => awaitGone([], word)), [])
    }).pipe(Effect.scoped),
  )

  it.live("L8 is killed with everything that it started when the server is killed", () =>
    Effect.gen(function* () {
      const word = mark()
      const notify = yield* program(`setsid sleep ${word} & sleep ${word}`)
      const server = yield* Server.ready({
        home: yield* home(config(notify.line)),
        mayBreakOff: true,
      })
      yield* answered(server, 1, "codex", { prompt: "say one" })
      yield* notify.times(1)
      server.child.kill("SIGKILL")
      yield* server.exit
      assert.deepStrictEqual(yield* Effect.promise(() => awaitGone([], word)), [])
    }).pipe(Effect.scoped),
  )
})
