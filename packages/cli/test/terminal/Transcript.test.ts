/** The work for a long text grows with its length and not with its square: counted in characters, not in time. */
import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { plain } from "../../src/demo/Style.ts"
import { ChatScreen } from "../../src/terminal/chat/ChatScreen.ts"
import { liveRows } from "../../src/terminal/chat/LiveRows.ts"
import { initialState } from "../../src/terminal/chat/ChatState.ts"
import { Transcript } from "../../src/terminal/chat/Transcript.ts"

const options = { columns: 79, style: plain }

const message = (delta: string): Event["msg"] => ({ type: "agent_message_delta", delta })
const reasoning = (delta: string): Event["msg"] => ({ type: "agent_reasoning_delta", delta })
const output = (text: string): Event["msg"] => ({
  type: "exec_command_output_delta",
  call_id: "call",
  stream: "stdout",
  chunk: Buffer.from(text).toString("base64"),
})
const started: Event["msg"] = { type: "task_started", model_context_window: null }
const begin: Event["msg"] = {
  type: "exec_command_begin",
  call_id: "call",
  command: ["cat"],
  cwd: "/",
}

/** A transcript with its screen, drawn after each event as a chat that has nothing else to do draws it. */
class Shown {
  readonly rows: Array<string> = []
  private readonly transcript = new Transcript()
  private readonly screen = new ChatScreen()
  private seq = 0

  event(msg: Event["msg"]): void {
    const rows = this.transcript.event({ id: "1", seq: this.seq++, msg }, options)
    this.rows.push(...rows)
    const live = liveRows(initialState, this.open(), { ...options, maxRows: 23, nowMs: 0 })
    this.screen.draw(rows, live, options.columns + 1)
  }

  open(): ReadonlyArray<string> {
    return this.transcript.open(options)
  }
}

/** The methods that read a whole text. */
const reading = [
  "trim",
  "trimStart",
  "trimEnd",
  "split",
  "match",
  "replaceAll",
  "replace",
  "startsWith",
] as const

/** The number of UTF-16 code units that are read while it runs. */
const examined = (run: () => void): number => {
  let count = 0
  const strings = String.prototype as unknown as Record<
    string,
    (...args: Array<unknown>) => unknown
  >
  const before = reading.map((name) => [name, strings[name]] as const)
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { test } = RegExp.prototype
  const patterns: Pick<RegExp, "test"> = RegExp.prototype
  for (const [name, method] of before) {
    strings[name] = function (this: string, ...args) {
      count += this.length
      return method?.apply(this, args)
    }
  }
  patterns.test = function (text) {
    count += text.length
    return test.call(this as RegExp, text)
  }
  try {
    run()
  } finally {
    for (const [name, method] of before) if (method !== undefined) strings[name] = method
    patterns.test = test
  }
  return count
}

describe("Transcript", () => {
  it.each([
    ["words", [message("some words of an answer that is long, ")]],
    ["lines", [message("a line\n"), message("and\nanother ")]],
    ["white space", [message("   \n \n")]],
    ["one word", [message("x".repeat(100))]],
    ["wide characters", [message("日本語")]],
    ["characters without a width", [message("\u0301".repeat(100))]],
    ["reasoning", [reasoning("a thought and ")]],
    ["the output of a command", [output("a line\n"), output("and".repeat(20))]],
    ["the output of a command in one line", [output("and".repeat(20))]],
  ])("reads as much for the last deltas of %s as for the first", (_, deltas) => {
    const shown = new Shown()
    shown.event(started)
    shown.event(begin)
    const some = () =>
      examined(() => {
        for (let n = 0; n < 400; n++) for (const delta of deltas) shown.event(delta)
      })
    // The first fill what is kept of a text.
    some()
    const early = some()
    some()
    some()
    const late = some()
    assert.isAbove(early, 0)
    assert.isAtMost(late, early * 1.1)
  })

  it("shows a text in rows, without white space before its first word, whatever its deltas are", () => {
    const text =
      " \n\t  first words\n\n\tindented, and then some more of them until the row is full, and more"
    const rows = (pieces: ReadonlyArray<string>) => {
      const shown = new Shown()
      for (const piece of pieces) shown.event(message(piece))
      return [...shown.rows, ...shown.open()]
    }
    const whole = rows([text])
    assert.strictEqual(whole[0], "  first words")
    assert.deepStrictEqual(rows(Array.from(text)), whole)
    assert.deepStrictEqual(rows([text.slice(0, 3), text.slice(3)]), whole)
  })

  it("a row of characters without a width becomes final, and nothing of it is lost", () => {
    const shown = new Shown()
    for (let n = 0; n < 100; n++) shown.event(message(`${n}:${"\u0301".repeat(100)}`))
    const text = [...shown.rows, ...shown.open()].join("").replaceAll(" ", "")
    assert.strictEqual(
      text,
      Array.from({ length: 100 }, (__, n) => `${n}:${"\u0301".repeat(100)}`).join(""),
    )
  })
})
