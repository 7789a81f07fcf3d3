import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile, spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { promisify } from "node:util"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { home, provided, scripted } from "./support/Home.ts"
import { childrenOf, isRunning } from "./support/Processes.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

/** Longer in ms than a shutdown takes while a turn runs, for its grace, its abort and the flush, on a loaded machine. */
const boundMs = 10_000

/** A server with a running turn that would never end by itself. */
const inTurn = Effect.gen(function* () {
  const provider = yield* MockProvider.make([
    Script.reply(Script.bareDeltas("on and "), Script.hang),
  ])
  const server = yield* Server.ready({ home: yield* provided(provider.baseUrl, "responses") })
  server.call(1, "codex", { prompt: "go on" })
  yield* server.event("agent_message_delta", 1)
  return { provider, server }
})

const timed = <A>(effect: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const value = yield* effect
    return [value, performance.now() - began] as const
  })

/** Ids of the requests that got a response, in order. */
const answered = ({ frames }: Server.Server) =>
  frames.flatMap(({ id, method }) => (method === undefined ? [id] : []))

/** Pipes all lines at once into a command of the shell. */
const pipe = (directory: string, lines: ReadonlyArray<object>, command: string) =>
  Effect.promise(() => {
    const input = lines.map((line) => JSON.stringify({ jsonrpc: "2.0", ...line })).join("\n")
    const running = promisify(execFile)("sh", ["-c", command], {
      env: { ...Server.environment({ home: directory }), NODE: process.execPath, ENTRY: entry },
      cwd: tmpdir(),
      maxBuffer: 64 * 1024 * 1024,
    })
    running.child.stdin?.end(`${input}\n`)
    return running
  })

const framesOf = (stdout: string) =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Server.Frame)

describe("colloquy mcp, when its client disconnects", () => {
  it.live("L9 end of input before the first message: exit code 0", () =>
    Effect.gen(function* () {
      const server = yield* Server.start({ home: yield* home() })
      server.child.stdin.end()
      assert.deepStrictEqual(yield* server.exit, { code: 0, signal: null })
      assert.deepStrictEqual(server.frames, [])
    }),
  )

  it.live("L9 end of input during a turn: the turn ends, its call gets an error, exit code 0", () =>
    Effect.gen(function* () {
      const { provider, server } = yield* inTurn
      server.send({ id: 2, method: "ping" })
      server.child.stdin.end()
      const [exit, ms] = yield* timed(server.exit)
      assert.deepStrictEqual(exit, { code: 0, signal: null })
      assert.isBelow(ms, boundMs)
      assert.deepStrictEqual(answered(server), ["initialize", 2, 1])
      assert.strictEqual((yield* server.answer(1)).error?.code, -32_000)
      assert.strictEqual(server.eventTypes(1).at(-1), "turn_aborted")
      yield* provider.awaitClosed(0)
    }),
  )

  it.live("L9 a turn that ends within the grace is answered after the end of input", () =>
    Effect.gen(function* () {
      const server = yield* Server.ready({
        home: yield* scripted([[{ text: "first" }, { delay_ms: 100 }, { text: "in time" }]]),
      })
      server.call(1, "codex", { prompt: "question" })
      yield* server.event("agent_message", 1)
      server.child.stdin.end()
      assert.strictEqual((yield* server.exit).code, 0)
      assert.strictEqual(Server.textOf(yield* server.answer(1)), "in time")
    }),
  )

  it.live("L9 a program that pipes its requests in and reads to the end gets every response", () =>
    Effect.gen(function* () {
      const calls = Array.from({ length: 50 }, (_, n) => ({
        id: n,
        method: "tools/call",
        params: { name: "codex", arguments: { prompt: `say answer ${n}` } },
      }))
      const { stdout } = yield* pipe(
        yield* home(),
        [Server.initialize, ...calls],
        // On a busy machine the first fifty turns of a process take longer than the default shutdown grace.
        '"$NODE" "$ENTRY" mcp -c shutdown_grace_ms=20000',
      )
      const frames = framesOf(stdout)
      assert.isDefined(frames.find(({ id }) => id === "initialize"))
      for (const { id } of calls) {
        const answers = frames.filter((frame) => frame.method === undefined && frame.id === id)
        assert.deepStrictEqual(answers.map(Server.textOf), [`answer ${id}`])
      }
    }),
  )

  it.live("L9 a reader that is slow after the end of input still gets every response", () =>
    Effect.gen(function* () {
      // The responses exceed the pipe's capacity but not the server's queue: all of them wait for the reader.
      const requests = Array.from({ length: 100 }, (_, id) => ({ id, method: "tools/list" }))
      const { stdout } = yield* pipe(
        yield* home(),
        requests,
        '"$NODE" "$ENTRY" mcp -c mcp_tools=all | (sleep 2; cat)',
      )
      assert.strictEqual(framesOf(stdout).length, 100)
    }),
  )

  it.live(
    "L9 a reader that stopped reading does not keep a server running after the end of input",
    () =>
      Effect.gen(function* () {
        const directory = yield* home()
        const child = spawn(process.execPath, [entry, "mcp", "-c", "mcp_tools=all"], {
          env: Server.environment({ home: directory }),
          stdio: ["pipe", "pipe", "ignore"],
        })
        // More responses than the server queues: the rest of the input waits until they are read.
        for (let id = 0; id < 5000; id++) {
          child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`)
        }
        child.stdin.end()
        const code = yield* Effect.promise(
          () => new Promise<number | null>((resolve) => child.once("exit", resolve)),
        )
        assert.strictEqual(code, 0)
      }),
  )

  it.live("L9 2,000 requests in one write and the end of input: each is answered once", () =>
    Effect.gen(function* () {
      const server = yield* Server.start({ home: yield* home() })
      const methods = ["ping", "tools/list", "no/such/method"]
      const ids = Array.from({ length: 2000 }, (_, id) => id)
      server.write(
        ids
          .map((id) => JSON.stringify({ jsonrpc: "2.0", id, method: methods[id % methods.length] }))
          .join("\n"),
      )
      server.child.stdin.end()
      assert.strictEqual((yield* server.exit).code, 0)
      assert.deepStrictEqual(
        answered(server).toSorted((a, b) => Number(a) - Number(b)),
        ids,
      )
    }),
  )

  it.live("L8 the server ends when its client is killed in the middle of a turn", () =>
    Effect.gen(function* () {
      const directory = yield* scripted([[{ text: "first" }, { delay_ms: 600_000 }]])
      // The client is a separate process, because only a process can be killed; it prints the server's process id.
      const program = `
        import { spawn } from "node:child_process"
        const server = spawn(${JSON.stringify(process.execPath)}, [${JSON.stringify(entry)}, "mcp"])
        server.stdout.once("data", () => process.stdout.write(String(server.pid)))
        server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"codex","arguments":{"prompt":"x"}}}\\n')
      `
      const client = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        env: Server.environment({ home: directory }),
        stdio: ["ignore", "pipe", "ignore"],
      })
      const pid = yield* Effect.promise(
        () =>
          new Promise<number>((resolve) =>
            client.stdout.once("data", (data) => resolve(Number(data))),
          ),
      )
      client.kill("SIGKILL")
      const began = performance.now()
      // The server is not a child of this process, so its exit can only be polled.
      while (isRunning(pid) && performance.now() - began < boundMs) yield* Effect.sleep("10 millis")
      assert.isFalse(isRunning(pid))
    }),
  )

  it.live("L9 the server ends when its reader leaves in the middle of a turn", () =>
    Effect.gen(function* () {
      const { provider, server } = yield* inTurn
      server.child.stdout.destroy()
      server.send({ id: 2, method: "ping" })
      const [exit, ms] = yield* timed(server.exit)
      assert.deepStrictEqual(exit, { code: 0, signal: null })
      assert.isBelow(ms, boundMs)
      yield* provider.awaitClosed(0)
    }),
  )

  it.live(
    "L9 SIGTERM in the middle of a turn: the turn ends, its call is answered, exit code 143",
    () =>
      Effect.gen(function* () {
        const { provider, server } = yield* inTurn
        server.child.kill("SIGTERM")
        const [exit, ms] = yield* timed(server.exit)
        assert.deepStrictEqual(exit, { code: 143, signal: null })
        assert.isBelow(ms, boundMs)
        assert.strictEqual(server.eventTypes(1).at(-1), "turn_aborted")
        assert.strictEqual(
          (yield* server.answer(1)).error?.message,
          "the server is shutting down; the request may have been carried out",
        )
        yield* provider.awaitClosed(0)
      }),
  )

  it.live("L8 no ended process of the server is left unreaped while it runs", () =>
    Effect.gen(function* () {
      const { server } = yield* inTurn
      assert.deepStrictEqual(childrenOf(server.pid), [])
    }),
  )

  it.live("a server that was stopped and continued responds to the requests sent meanwhile", () =>
    Effect.gen(function* () {
      const server = yield* Server.ready({ home: yield* home() })
      server.child.kill("SIGSTOP")
      server.call(1, "codex", { prompt: "say awake" })
      yield* Effect.sleep("100 millis")
      server.child.kill("SIGCONT")
      assert.strictEqual(Server.textOf(yield* server.answer(1)), "awake")
    }),
  )

  it.live("two servers share a state directory", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      const servers = yield* Effect.all([
        Server.ready({ home: directory }),
        Server.ready({ home: directory }),
      ])
      for (const server of servers) server.call(1, "codex", { prompt: "say mine" })
      for (const server of servers) {
        assert.strictEqual(Server.textOf(yield* server.answer(1)), "mine")
      }
    }),
  )
})
