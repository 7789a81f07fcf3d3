import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { alive, mark } from "../support/Census.ts"
import { codeOf, textOf } from "../support/CommandOutput.ts"
import { calls } from "../support/Machine.ts"
import { perform, stage } from "../support/Stage.ts"

const unconfinedPolicy = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "danger-full-access" },
} as const
const inTheSandbox = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "workspace-write" },
} as const

const places = [
  ["without a sandbox", unconfinedPolicy, true],
  ["in the sandbox", inTheSandbox, hasBubblewrap],
] as const

const bash = (script: string, more: object = {}) =>
  calls("shell", { command: ["bash", "-c", script], ...more }, "a")

/**
 * Longer than an interrupt takes on a loaded machine: by L14 one second plus the kill grace of half a second. The
 * commands run four times as long.
 */
const boundMs = 15_000

for (const [where, settings, possible] of places) {
  describe.skipIf(!possible)(`commands and their ends, ${where}`, () => {
    it.live("a real exit code is reported unchanged, also one that a denial could have", () =>
      Effect.gen(function* () {
        for (const code of [0, 1, 3, 126, 127, 137, 255]) {
          const { messages, outputs } = yield* perform(
            {},
            { settings, responses: [[bash(`exit ${code}`)]] },
          )
          assert.deepStrictEqual(outputs.map(codeOf), [code])
          const end = messages.find(({ type }) => type === "exec_command_end")
          assert.strictEqual(end?.type === "exec_command_end" && end.exit_code, code)
        }
      }),
    )

    it.live("a signal is reported by the exit code of a shell", () =>
      Effect.gen(function* () {
        const { outputs } = yield* perform(
          {},
          {
            settings,
            responses: [[calls("shell", { command: ["bash", "-c", "kill -SEGV $$"] }, "a")]],
          },
        )
        assert.deepStrictEqual(outputs.map(codeOf), [139])
      }),
    )

    it.live("L8 past its timeout a command that ignores SIGTERM is killed: exit code 124", () =>
      Effect.gen(function* () {
        const seconds = mark()
        const script = `trap '' TERM; echo begun; sleep ${seconds} & sleep ${seconds}; sleep ${seconds}`
        const { outputs } = yield* perform(
          {},
          { settings, responses: [[bash(script, { timeout_ms: 400 })]] },
        )
        assert.deepStrictEqual(outputs.map(codeOf), [124])
        assert.strictEqual(textOf(outputs[0]), "command timed out after 400 milliseconds\nbegun\n")
        assert.deepStrictEqual(alive(seconds), [])
      }),
    )

    it.live("L8 a child in the background that holds the pipe ends with its command", () =>
      Effect.gen(function* () {
        const seconds = mark()
        const { outputs } = yield* perform(
          {},
          { settings, responses: [[bash(`sleep ${seconds} & echo done`)]] },
        )
        assert.deepStrictEqual([outputs.map(codeOf), textOf(outputs[0])], [[0], "done\n"])
        assert.deepStrictEqual(alive(seconds), [])
      }),
    )

    it.live("L14 an interrupt ends the command and all its children, within its bound", () =>
      Effect.gen(function* () {
        const seconds = mark()
        const { begin } = yield* stage()
        const script = `trap '' TERM; echo begun; (sleep ${seconds}; true) & sleep ${seconds}; true`
        const actor = yield* begin({
          settings,
          responses: [[bash(script, { timeout_ms: 60_000 })]],
        })
        yield* actor.until(({ type }) => type === "exec_command_output_delta")
        assert.isNotEmpty(alive(seconds))
        const began = performance.now()
        yield* actor.interrupt
        yield* actor.until(({ type }) => type === "turn_aborted")
        assert.isBelow(performance.now() - began, boundMs)
        assert.deepStrictEqual(alive(seconds), [])
        assert.lengthOf(actor.requests, 1)
      }),
    )

    it.live("a command that is interrupted ends with what it has printed", () =>
      Effect.gen(function* () {
        const { begin } = yield* stage()
        const actor = yield* begin({
          settings,
          responses: [[bash("echo begun; sleep 60", { timeout_ms: 60_000 })]],
        })
        yield* actor.until(({ type }) => type === "exec_command_output_delta")
        yield* actor.interrupt
        yield* actor.until(({ type }) => type === "turn_aborted")
        const end = actor.messages.find((msg) => msg.type === "exec_command_end")
        assert.deepStrictEqual(
          [end?.aggregated_output, end?.exit_code, actor.messages.at(-1)?.type],
          ["begun\n", -1, "turn_aborted"],
        )
      }),
    )

    it.live("L13 output without end is cut: the deltas and what is kept are bounded", () =>
      Effect.gen(function* () {
        const { begin } = yield* stage()
        const flood = yield* begin({
          settings,
          responses: [[bash("yes 0123456789abcdef", { timeout_ms: 2500 })]],
        })
        yield* flood.until(({ type }) => type === "exec_command_output_delta")
        // Another conversation asks a question, runs a command and ends while the flood of output continues.
        const other = yield* begin({ settings, responses: [[bash("echo still here")]] })
        assert.deepStrictEqual((yield* other.outputs).map(textOf), ["still here\n"])
        assert.isUndefined(flood.messages.find(({ type }) => type === "exec_command_end"))
        const outputs = yield* flood.outputs
        assert.deepStrictEqual(outputs.map(codeOf), [124])
        assert.isAtMost(Buffer.byteLength(textOf(outputs[0])), 10 * 1024)
        assert.match(textOf(outputs[0]), /omitted \d+ of \d+ (?:bytes|lines)/)
        const deltas = flood.messages.filter(({ type }) => type === "exec_command_output_delta")
        assert.isAtMost(deltas.length, 10_000)
        const end = flood.messages.find(({ type }) => type === "exec_command_end")
        assert.isAtMost(JSON.stringify(end).length, 5 * 1024 * 1024)
      }),
    )

    it.live(
      "bytes that are not text and characters that arrive in two halves are kept correctly",
      () =>
        Effect.gen(function* () {
          const script = String.raw`printf '\xe2\x82'; sleep 0.2; printf '\xac|\xff|\x00|\xe2\x82'`
          const { messages, outputs } = yield* perform(
            {},
            { settings, responses: [[bash(script)]] },
          )
          assert.strictEqual(textOf(outputs[0]), "€|\uFFFD|\0|\uFFFD")
          const bytes = messages.flatMap((message) =>
            message.type === "exec_command_output_delta"
              ? [...Buffer.from(message.chunk, "base64")]
              : [],
          )
          assert.strictEqual(
            Buffer.from(bytes).toString("hex"),
            Buffer.from("e282ac7cff7c007ce282", "hex").toString("hex"),
          )
        }),
    )

    it.live("two conversations run commands at once, each in its own directory", () =>
      Effect.gen(function* () {
        const { begin, workspace } = yield* stage({
          prepare: (ws) => {
            for (const name of ["one", "two"]) Fs.mkdirSync(`${ws}/${name}`)
          },
        })
        // Each command waits for the other, so they would never end if they ran one after the other.
        const meet = (own: string, other: string) => ({
          settings: { ...settings, cwd: `${workspace}/${own}` },
          responses: [
            [bash(`touch here; until [ -e ../${other}/here ]; do sleep 0.02; done; pwd`)],
          ],
        })
        const one = yield* begin(meet("one", "two"))
        const two = yield* begin(meet("two", "one"))
        assert.deepStrictEqual([...(yield* one.outputs), ...(yield* two.outputs)].map(textOf), [
          `${workspace}/one\n`,
          `${workspace}/two\n`,
        ])
      }),
    )
  })
}
