/** Tests how long a line a client may send to the built program, in both dialects, and the memory that it takes. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as CliProcess from "./CliProcess.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"

beforeAll(buildIfMissing)

const clientInfo = { name: "test", version: "1" }
const initialize = {
  jsonrpc: "2.0",
  id: "hello",
  method: "initialize",
  params: { clientInfo, protocolVersion: "2025-06-18", capabilities: {} },
}

const mebibyte = 1024 * 1024

/** The largest resident size of the process so far, in MiB. */
const peakMebibytes = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

/** Writes the same chunk `times` times, as fast as the process reads. */
const writeTimes = ({ child }: CliProcess.CliProcess, chunk: Uint8Array, times: number) =>
  Effect.promise(async () => {
    for (let i = 0; i < times; i++) {
      if (child.stdin.write(chunk)) continue
      await new Promise((resolve) => child.stdin.once("drain", resolve))
    }
  })

for (const command of ["mcp", "app-server"]) {
  describe(`colloquy ${command}: one line`, () => {
    it.live(
      "L13 a response with an error code beyond the integers does not end the server, even as the first message",
      () =>
        Effect.gen(function* () {
          const cli = yield* CliProcess.start([command])
          for (const code of ["9007199254740993", "1e308", "1e400"]) {
            cli.child.stdin.write(`{"id":99,"error":{"code":${code}}}\n`)
            cli.child.stdin.write(`[{"id":99,"error":{"code":${code},"message":"m"}}]\n`)
          }
          cli.write(initialize)
          yield* cli.stdoutHas('"id":"hello","result"')
          cli.child.stdin.end()
          assert.strictEqual((yield* cli.outcome).code, 0)
        }),
    )

    it.live("L13 a line over the limit gets an error with its id, the limit and the setting", () =>
      Effect.gen(function* () {
        const cli = yield* CliProcess.start([command, "-cmax_line_bytes=2000"])
        cli.write(initialize)
        yield* cli.stdoutHas('"id":"hello","result"')
        const params = { deep: [{ id: "inner" }], text: `"id":1,${"x".repeat(3000)}` }
        cli.write({ id: "first", method: "ping", params }, { method: "ping", params, id: "last" })
        cli.write({ ...initialize, id: "after" })
        yield* cli.stdoutHas('"id":"first","error":{"code":-32600')
        yield* cli.stdoutHas('"id":"last","error":{"code":-32600')
        const stdout = yield* cli.stdoutHas('"id":"after"')
        assert.include(stdout, "the limit is 2000 (setting `max_line_bytes`)")
      }),
    )

    it.live(
      "L1 a notification over the limit gets no response, and what has no readable id does",
      () =>
        Effect.gen(function* () {
          const cli = yield* CliProcess.start([command, "-cmax_line_bytes=2000"])
          cli.write(initialize)
          yield* cli.stdoutHas('"id":"hello","result"')
          const text = "x".repeat(3000)
          cli.write({ jsonrpc: "2.0", method: "unknown/notification", params: { id: 7, text } })
          cli.write({ ...initialize, id: "after" })
          const stdout = yield* cli.stdoutHas('"id":"after"')
          assert.notInclude(stdout, '"id":null')
          cli.child.stdin.write(`[${JSON.stringify({ method: "ping", id: 1, text })}]\n`)
          yield* cli.stdoutHas('"id":null,"error":{"code":-32600')
        }),
    )
  })
}

describe("colloquy mcp: large lines", () => {
  it.live(
    "L13 memory stays bounded while a line of 512 MiB is discarded",
    () =>
      Effect.gen(function* () {
        const cli = yield* CliProcess.start(["mcp"])
        cli.write(initialize)
        yield* cli.stdoutHas('"id":"hello","result"')
        cli.child.stdin.write('{"jsonrpc":"2.0","method":"ping","params":{"text":"')
        yield* writeTimes(cli, new Uint8Array(mebibyte).fill(0x78), 512)
        cli.child.stdin.write('"},"id":"large"}\n')
        yield* cli.stdoutHas('"id":"large","error":{"code":-32600')
        // The program itself and the 64 MiB of the line that it held before the line became too long.
        assert.isBelow(peakMebibytes(cli.child.pid), 300)
      }),
    120_000,
  )

  it.live(
    "a prompt of 40 MB is accepted, and the turn takes less than 1 GiB",
    () =>
      Effect.gen(function* () {
        const cli = yield* CliProcess.start(["mcp"])
        cli.write(initialize)
        yield* cli.stdoutHas('"id":"hello","result"')
        cli.write({ jsonrpc: "2.0", method: "notifications/initialized" })
        const prompt = "x".repeat(40_000_000)
        cli.write({
          jsonrpc: "2.0",
          id: "large",
          method: "tools/call",
          params: { name: "codex", arguments: { prompt } },
        })
        const stdout = yield* cli.stdoutHas('"id":"large","result"')
        assert.notInclude(stdout, '"isError":true')
        assert.isBelow(peakMebibytes(cli.child.pid), 1024)
      }),
    120_000,
  )
})
