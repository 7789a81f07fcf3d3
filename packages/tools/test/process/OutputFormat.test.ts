import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { CommandResult } from "../../src/process/Command.ts"
import { exitCodeOf, formatted, modelText, truncated } from "../../src/process/OutputFormat.ts"

const result = (exit: CommandResult["exit"], text: string, millis = 1_250): CommandResult => {
  const captured = { text, totalBytes: text.length, omittedBytes: 0 }
  const none = { text: "", totalBytes: 0, omittedBytes: 0 }
  const duration = Duration.millis(millis)
  return { exit, stdout: none, stderr: none, aggregated: captured, duration }
}

const size = (text: string) => new TextEncoder().encode(text).length

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join("")

describe("modelText", () => {
  it("is JSON of the output, the real exit code and the seconds with one decimal", () => {
    assert.strictEqual(
      modelText(result({ _tag: "Exited", code: 3 }, "partial\noops\n", 149)),
      String.raw`{"output":"partial\noops\n","metadata":{"exit_code":3,"duration_seconds":0.1}}`,
    )
    assert.strictEqual(
      modelText(result({ _tag: "Exited", code: 0 }, "", 1_250)),
      `{"output":"","metadata":{"exit_code":0,"duration_seconds":1.3}}`,
    )
  })

  it("reports that the command timed out, before its output", () => {
    const exit = { _tag: "TimedOut", after: Duration.millis(1_500) } as const
    assert.deepStrictEqual(JSON.parse(modelText(result(exit, "start\n", 1_600))), {
      output: "command timed out after 1500 milliseconds\nstart\n",
      metadata: { exit_code: 124, duration_seconds: 1.6 },
    })
  })

  it("names the signal that killed the command", () => {
    const exit = { _tag: "Signaled", signal: "SIGKILL" } as const
    assert.deepStrictEqual(JSON.parse(modelText(result(exit, "x", 0))), {
      output: "command was killed by a signal: SIGKILL\nx",
      metadata: { exit_code: 137, duration_seconds: 0 },
    })
    assert.strictEqual(exitCodeOf({ exit: { _tag: "Signaled", signal: "SIGODD" } }), 128)
  })

  it("counts the line about the timeout as one of the bounded lines", () => {
    const exit = { _tag: "TimedOut", after: Duration.seconds(1) } as const
    const text = formatted(result(exit, numbered(0, 256)))
    assert.isTrue(text.startsWith("command timed out after 1000 milliseconds\nline 0\n"))
    assert.isTrue(text.includes("\n[... omitted 1 of 257 lines ...]\n\n"))
  })
})

describe("truncated", () => {
  it("leaves text that fits unchanged", () => {
    for (const text of ["", "\n", "a", numbered(0, 256), "x".repeat(10_240)]) {
      assert.strictEqual(truncated(text), text)
    }
  })

  it("keeps the first and the last 128 lines", () => {
    assert.strictEqual(
      truncated(numbered(0, 400)),
      `${numbered(0, 128)}\n[... omitted 144 of 400 lines ...]\n\n${numbered(272, 400)}`,
    )
    const unended = `${numbered(0, 256)}last`
    assert.strictEqual(
      truncated(unended),
      `${numbered(0, 128)}\n[... omitted 1 of 257 lines ...]\n\n${numbered(129, 256)}last`,
    )
  })

  it("keeps 5 KiB of head and fills the 10 KiB with the tail, and counts the lines it cuts", () => {
    const lines = Array.from({ length: 300 }, (_, line) => `${String(line).padEnd(99, ".")}\n`)
    const text = truncated(lines.join(""))
    assert.isAtMost(size(text), 10_240)
    assert.isAtLeast(size(text), 10_230)
    const [head = "", tail = ""] = text.split("\n[... omitted 199 of 300 lines ...]\n\n")
    assert.strictEqual(head, lines.join("").slice(0, 5_120))
    assert.isTrue(lines.join("").endsWith(tail))
  })

  it("keeps head and tail of a few long lines", () => {
    for (const count of [2, 100, 129, 200, 256]) {
      const lines = Array.from({ length: count }, (_, line) =>
        `${line}`.padEnd(11_000 / count, "."),
      )
      const text = lines.map((line) => `${line}\n`).join("")
      const [, head = "", omitted, tail = ""] =
        /^(.*)\n\[\.\.\. omitted (\d+) of \d+ lines \.\.\.\]\n\n(.*)$/s.exec(truncated(text)) ?? []
      assert.isTrue(text.startsWith(head) && text.endsWith(tail), String(count))
      assert.isAbove(head.length, 5_000)
      assert.isAbove(tail.length, 5_000)
      const whole = (part: string) => lines.filter((line) => part.includes(`${line}\n`)).length
      assert.strictEqual(Number(omitted), count - whole(head) - whole(tail))
    }
  })

  it("cuts one endless line in its middle", () => {
    const text = truncated(`<${"x".repeat(1_000_000)}>`)
    assert.isAtMost(size(text), 10_240)
    assert.match(text, /^<x{5119}\n\[\.\.\. omitted 1 of 1 lines \.\.\.\]\n\nx+>$/)
  })

  it("cuts between characters", () => {
    for (const character of ["ä", "€", "😀"]) {
      for (const lead of ["", "a", "ab", "abc"]) {
        const text = truncated(lead + character.repeat(8_000))
        assert.isFalse(text.includes("\ufffd"), lead + character)
        assert.isAtMost(size(text), 10_240)
      }
    }
  })

  it("handles a hundred thousand empty lines", () => {
    assert.strictEqual(
      truncated("\n".repeat(100_000)),
      `${"\n".repeat(128)}\n[... omitted 99744 of 100000 lines ...]\n\n${"\n".repeat(128)}`,
    )
  })
})
