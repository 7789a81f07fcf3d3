/** The chat as a person has it: typed in a pseudo-terminal, read from its screen. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { widthOf } from "../../src/terminal/Width.ts"
import * as Home from "../support/Home.ts"
import * as Program from "../support/Program.ts"
import * as Pty from "../support/Pty.ts"

const enter = "\r"
const ctrlC = "\u0003"
/** Nothing is asked and nothing confined. */
const full = ["-a", "never", "-s", "danger-full-access"]

/** A chat in a new state directory. */
const chat = Effect.fnUntraced(function* (
  columns: number,
  {
    args = [],
    config = "",
    env = {},
    rows = 24,
  }: {
    readonly args?: ReadonlyArray<string>
    readonly config?: string
    readonly env?: Readonly<Record<string, string>>
    readonly rows?: number
  } = {},
) {
  const home = yield* Home.home({ "config.toml": config })
  const cwd = yield* Home.directory()
  const options = { columns, rows, cwd, env: { HOME: home, COLLOQUY_HOME: home, ...env } }
  return { home, cwd, options, pty: yield* Pty.start(["chat", ...args], options) }
})

describe.each([80, 120])("a chat in a terminal of %i columns", (columns) => {
  it.live("streams an answer, and ends with Ctrl-D", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns)
      yield* pty.shows("/help lists the commands")
      pty.type(`say hello${enter}`)
      const rows = yield* pty.shows("  hello")
      assert.include(rows, "› say hello")
      yield* pty.until((now) => now.at(-1)?.trim() === "›")
      pty.type("\u0004")
      assert.strictEqual(yield* pty.ended, 0)
      assert.match(pty.rows().at(-1) ?? "", /^Go on with: colloquy sessions resume \S+$/)
      for (const row of pty.rows()) assert.isAtMost(widthOf(row), columns)
    }).pipe(Effect.scoped),
  )

  it.live("asks before a command, and runs it after one key", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: ["-a", "untrusted", "-s", "workspace-write"] })
      yield* pty.shows("/help")
      pty.type(`run: echo made > file.txt; cat file.txt${enter}`)
      const asked = yield* pty.shows("[y] yes")
      assert.isTrue(asked.some((row) => row.includes("? Allow Colloquy to run")))
      yield* Effect.sleep(500)
      pty.type("y")
      const rows = yield* pty.shows("exit 0")
      assert.isTrue(rows.some((row) => row.trim() === "│ made"))
      assert.isTrue(rows.some((row) => row.trim() === "✓ approved"))
      pty.type(`/quit${enter}`)
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("Ctrl-C interrupts the turn, and what was sent meanwhile is answered", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: full })
      yield* pty.shows("/help")
      pty.type(`run: echo begun; sleep 60${enter}`)
      yield* pty.shows("working")
      yield* pty.shows("$ echo begun")
      pty.type(ctrlC)
      const rows = yield* pty.shows("— interrupted")
      assert.isTrue(rows.some((row) => row.includes("interrupted")))
      pty.type(`say still here${enter}`)
      yield* pty.until((now) => now.includes("  still here"))
      pty.type(`/quit${enter}`)
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("Ctrl-C interrupts a summary, and the message that waits for its end is answered", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: ["-c", "offline.delta_delay_ms=300"] })
      yield* pty.shows("/help")
      pty.type(`say hi${enter}`)
      yield* pty.until((rows) => rows.at(-1)?.trim() === "›" && rows.includes("  hi"))
      pty.type(`/compact${enter}`)
      yield* pty.shows("working")
      pty.type(`say afterwards${enter}`)
      yield* pty.shows("waits: say afterwards")
      pty.type(ctrlC)
      const rows = yield* pty.until((now) => now.includes("  afterwards"))
      assert.strictEqual(rows.filter((row) => row.includes("— interrupted")).length, 1)
      assert.include(rows, "› say afterwards")
      pty.type("\u0004")
      yield* pty.ended
    }).pipe(Effect.scoped),
  )

  it.live("/compact during a turn waits for its end, and then summarises", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: full })
      yield* pty.shows("/help")
      pty.type(`run: sleep 2; echo ended${enter}`)
      yield* pty.shows("$ sleep 2")
      pty.type(`/compact${enter}`)
      yield* pty.shows("/compact waits for the end of the turn")
      const rows = yield* pty.shows("— the history was replaced by a summary")
      // Of the turn, whose end came first.
      assert.isTrue(rows.some((row) => row.includes("exit 0")))
      assert.isFalse(rows.some((row) => row.includes("Start Summarization")))
      pty.type("\u0004")
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("what waits for the end of a turn is shown when the chat ends", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: ["-c", "offline.delta_delay_ms=300"] })
      yield* pty.shows("/help")
      pty.type(`say hi${enter}`)
      yield* pty.until((rows) => rows.at(-1)?.trim() === "›" && rows.includes("  hi"))
      pty.type(`/compact${enter}`)
      yield* pty.shows("working")
      pty.type(`say too late${enter}`)
      yield* pty.shows("waits: say too late")
      pty.type(`/compact${enter}`)
      yield* pty.shows("/compact waits for the end of the turn")
      pty.type(`/quit${enter}`)
      assert.strictEqual(yield* pty.ended, 0)
      assert.include(pty.rows(), "  ! not sent: say too late")
      assert.include(pty.rows(), "  ! not sent: /compact")
    }).pipe(Effect.scoped),
  )

  it.live("/fork is refused while a turn runs, which Ctrl-C still interrupts", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: full })
      yield* pty.shows("/help")
      pty.type(`run: sleep 60${enter}`)
      yield* pty.shows("$ sleep 60")
      pty.type(`/fork${enter}`)
      yield* pty.shows("/fork: a turn is running: wait for its end, or interrupt it with Ctrl-C")
      pty.type(ctrlC)
      yield* pty.shows("— interrupted")
      yield* pty.until((rows) => rows.at(-1)?.trim() === "›")
      pty.type(`/fork${enter}`)
      yield* pty.shows("this is a copy now:")
      pty.type("\u0004")
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("/fork is refused while a question waits, which stays", () =>
    Effect.gen(function* () {
      const { cwd, pty } = yield* chat(columns, {
        args: ["-a", "untrusted", "-s", "workspace-write"],
      })
      yield* pty.shows("/help")
      pty.type(`run: touch made.txt${enter}`)
      yield* pty.shows("[y] yes")
      pty.type(`/fork${enter}`)
      yield* pty.shows("/fork: a question waits: answer it, or interrupt the turn with Ctrl-C")
      yield* Effect.sleep(600)
      pty.type("y")
      yield* pty.shows("exit 0")
      assert.isTrue(existsSync(join(cwd, "made.txt")))
      pty.type(`/quit${enter}`)
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("a second Ctrl-C ends the chat", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns)
      yield* pty.shows("/help")
      pty.type(ctrlC)
      yield* pty.shows("Ctrl-C once more ends the chat")
      pty.type(ctrlC)
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("loses nothing that is typed during a turn", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: full })
      yield* pty.shows("/help")
      pty.type(`run: sleep 2; echo ended${enter}`)
      yield* pty.shows("$ sleep 2")
      pty.type(`say afterwards${enter}and this is not sent`)
      const rows = yield* pty.until((now) => now.includes("› say afterwards"))
      assert.isTrue(rows.some((row) => row.startsWith("› and this is not sent")))
      yield* pty.shows("› and this is not sent")
      pty.type("\u0015\u0004")
      yield* pty.ended
    }).pipe(Effect.scoped),
  )

  it.live("shows what a command prints while it runs, in a few rows, and then its output", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: full })
      yield* pty.shows("/help")
      const wide = "x".repeat(columns * 3)
      pty.type(`run: seq 1 40; echo ${wide}; printf '10%%\\r90%%'; sleep 60${enter}`)
      const rows = yield* pty.until((now) => now.some((row) => row.trim() === "│ 90%"))
      const shown = rows.filter((row) => /^ {2}│ /u.test(row)).map((row) => row.slice(4))
      assert.deepStrictEqual(
        shown.map((row) => (row.startsWith("xxx") ? "x" : row)),
        ["38", "39", "40", "x", "90%"],
      )
      for (const row of rows) assert.isAtMost(widthOf(row), columns)
      pty.type(ctrlC)
      const after = yield* pty.shows("— interrupted")
      assert.isFalse(after.some((row) => row.trim() === "│ 90%"))
      pty.type(`/quit${enter}`)
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live(
    "lists its commands, shows and sets the model, and replaces the history by a summary",
    () =>
      Effect.gen(function* () {
        const { pty } = yield* chat(columns)
        yield* pty.shows("/help lists the commands")
        pty.type(`/help${enter}`)
        const help = yield* pty.shows("Ctrl-D ")
        for (const name of ["/help", "/fork", "/compact", "/model", "/diff", "/quit", "Ctrl-Z"]) {
          assert.isTrue(help.some((row) => row.startsWith(`  ${name} `)))
        }
        pty.type(`/compact${enter}`)
        yield* pty.shows("nothing was said yet: there is nothing to summarise")
        pty.type(`/quit now${enter}`)
        yield* pty.shows("/quit takes no argument")
        pty.type(`/model${enter}`)
        yield* pty.shows("  model: offline of offline")
        pty.type(`/model another${enter}`)
        yield* pty.shows("  model of the next turns: another")
        pty.type(`/model${enter}`)
        yield* pty.shows("  model: another of offline")
        pty.type(`say hello${enter}`)
        yield* pty.until((rows) => rows.includes("  hello"))
        pty.type(`/compact${enter}`)
        yield* pty.shows("— the history was replaced by a summary")
        pty.type(`/comapct${enter}`)
        yield* pty.shows("did you mean /compact?")
        pty.type(`/quit${enter}`)
        assert.strictEqual(yield* pty.ended, 0)
        for (const row of pty.rows()) assert.isAtMost(widthOf(row), columns)
      }).pipe(Effect.scoped),
  )

  it.live("Ctrl-Z gives the terminal to the shell, and `fg` goes on with the chat", () =>
    Effect.gen(function* () {
      const home = yield* Home.home({ "config.toml": "" })
      const cwd = yield* Home.directory()
      const env = { HOME: home, COLLOQUY_HOME: home }
      const pty = yield* Pty.start([], { columns, cwd, env, isShell: true })
      yield* pty.shows("$")
      pty.type(`${Pty.commandOf(["chat"])}${enter}`)
      yield* pty.shows("/help lists the commands")
      pty.type("say hel")
      yield* pty.shows("› say hel")
      pty.type("\u001a")
      const stopped = yield* pty.shows("Stopped")
      assert.isFalse(stopped.some((row) => row.startsWith("› say hel")))
      assert.isTrue(pty.raw().includes("\u001b[?2004l"))
      pty.type(`stty -a | grep -o ' -*icanon\\| -*echo '${enter}`)
      yield* pty.until((rows) =>
        [" icanon", " echo"].every((mode) => rows.some((row) => row.trimEnd() === mode)),
      )
      pty.type(`fg${enter}`)
      yield* pty.shows("› say hel")
      pty.type(`lo${enter}`)
      yield* pty.until((rows) => rows.includes("  hello"))
      yield* pty.until((rows) => rows.at(-1)?.trim() === "›")
      pty.type("\u0004")
      yield* pty.shows("Go on with: colloquy sessions resume")
      pty.type(`exit 3${enter}`)
      assert.strictEqual(yield* pty.ended, 3)
    }).pipe(Effect.scoped),
  )

  it.live("shows the diff of a patch, and keeps its messages for the next chat", () =>
    Effect.gen(function* () {
      const { options, pty } = yield* chat(columns, { args: full })
      yield* pty.shows("/help")
      const patch = ["*** Begin Patch", "*** Add File: new.txt", "+added line", "*** End Patch"]
      pty.type(`\u001b[200~patch: ${patch.join("\r")}\u001b[201~${enter}`)
      const rows = yield* pty.shows("applied")
      assert.isTrue(rows.some((row) => row.includes("│ +added line")))
      // The diff of the turn follows its patch.
      yield* pty.shows("Offline model:")
      pty.type(`/diff${enter}`)
      yield* pty.shows("+++ b/")
      pty.type(`/fork${enter}`)
      yield* pty.shows("this is a copy now:")
      pty.type(`/quit${enter}`)
      yield* pty.ended
      const next = yield* Pty.start(["chat"], options)
      yield* next.shows("/help")
      next.type("\u001b[A")
      yield* next.shows("*** End Patch")
      next.type(`${ctrlC}\u0004`)
      assert.strictEqual(yield* next.ended, 0)
    }).pipe(Effect.scoped),
  )
})

describe("a chat", () => {
  it.live(
    "is drawn anew when it goes on after a signal, and Ctrl-Z without a shell ends nothing",
    () =>
      Effect.gen(function* () {
        const { pty } = yield* chat(80)
        yield* pty.shows("/help")
        pty.type("say hello")
        yield* pty.shows("› say hello")
        const drawings = () => pty.raw().split("\u001b[?2004h").length
        const before = drawings()
        // Not stopped before: the program that makes the terminal would stop itself as well, and nothing continues it.
        pty.signal("SIGCONT")
        yield* pty.until(() => drawings() > before)
        pty.type("\u001a")
        yield* pty.until(() => drawings() > before + 1)
        pty.type(enter)
        yield* pty.until((rows) => rows.includes("  hello"))
        pty.type("\u0004")
        assert.strictEqual(yield* pty.ended, 0)
      }).pipe(Effect.scoped),
  )

  it.live("has no colours with NO_COLOR", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(80, { env: { NO_COLOR: "1" } })
      yield* pty.shows("/help")
      pty.type(`say hello${enter}`)
      yield* pty.until((rows) => rows.includes("  hello"))
      pty.type("\u0004")
      yield* pty.ended
      // oxlint-disable-next-line no-control-regex -- the point of it
      assert.notMatch(pty.raw(), /\u001b\[[\d;]*m/)
    }).pipe(Effect.scoped),
  )

  it.live.each<[NodeJS.Signals, number]>([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("gives the terminal back as it was after %s", ([signal, code]) =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const env = { HOME: home, COLLOQUY_HOME: home }
      const after = "stty -a | grep -o ' icanon'"
      const pty = yield* Pty.start(["chat"], { columns: 80, cwd: home, env, after })
      yield* pty.shows("/help")
      pty.signal(signal)
      assert.strictEqual(yield* pty.ended, code)
      assert.include(pty.rows().at(-1) ?? "", "icanon")
      assert.include(pty.raw(), "\u001b[?2004l")
    }).pipe(Effect.scoped),
  )

  it.live("L8 kill -9 of a chat ends its commands, and the conversation can be resumed", () =>
    Effect.gen(function* () {
      const { options, pty } = yield* chat(80, { args: full })
      yield* pty.shows("/help")
      pty.type(`run: sleep 4711${enter}`)
      yield* pty.shows("$ sleep 4711")
      pty.signal("SIGKILL")
      yield* pty.ended
      const next = yield* Pty.start(["sessions", "resume"], options)
      const rows = yield* next.shows("— interrupted")
      assert.include(rows, "› run: sleep 4711")
      next.type(`say again${enter}`)
      yield* next.until((now) => now.includes("  again"))
      next.type("\u0004")
      assert.strictEqual(yield* next.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("what is being typed approves nothing, and Alt with the key does", () =>
    Effect.gen(function* () {
      const { cwd, pty } = yield* chat(80, { args: ["-a", "untrusted", "-s", "workspace-write"] })
      yield* pty.shows("/help")
      // The question appears in the middle of a sentence, whose next word begins with `y`.
      pty.type(`run: touch made.txt${enter}wh`)
      yield* pty.shows("[Alt-y] yes")
      yield* Effect.sleep(600)
      pty.type("y")
      yield* pty.shows("› why")
      assert.isFalse(existsSync(join(cwd, "made.txt")))
      yield* Effect.sleep(600)
      pty.type("\u001by")
      yield* pty.shows("✓ approved")
      yield* pty.shows("exit 0")
      assert.isTrue(existsSync(join(cwd, "made.txt")))
      yield* pty.until((rows) => rows.at(-1) === "› why")
      pty.type("\u0015\u0004")
      yield* pty.ended
    }).pipe(Effect.scoped),
  )

  it.live("Esc denies and interrupts the turn, and Ctrl-C after that ends the chat", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(80, { args: ["-a", "untrusted", "-s", "workspace-write"] })
      yield* pty.shows("/help")
      pty.type(`run: touch made.txt${enter}`)
      yield* pty.shows("[y] yes")
      yield* Effect.sleep(600)
      pty.type("\u001b")
      yield* pty.shows("✓ denied, and the turn is interrupted")
      yield* pty.until((rows) => rows.at(-1)?.trim() === "›")
      pty.type(`run: touch made.txt${enter}`)
      yield* pty.shows("[y] yes")
      pty.type(ctrlC)
      yield* pty.shows("Ctrl-C once more ends the chat")
      pty.type(ctrlC)
      assert.include([0, 130], yield* pty.ended)
    }).pipe(Effect.scoped),
  )

  it.live("a pasted text keeps its tabs, and wide characters their place", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(80)
      yield* pty.shows("/help")
      pty.type(`\u001b[200~say if x:\r\treturn\u001b[201~${enter}`)
      yield* pty.until((rows) => rows.includes("      return"))
      pty.type("日本語\u001b[D")
      const rows = yield* pty.until((now) => now.at(-1) === "› 日本語")
      assert.deepStrictEqual(pty.cursor(), { column: 6, row: rows.length - 1 })
      pty.type("\u0015\u000b\u0004")
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("goes on in a terminal that was resized", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(120, { args: full })
      yield* pty.shows("/help")
      pty.type(`say ${"one two ".repeat(12).trim()}${enter}`)
      yield* pty.until((rows) => rows.at(-1)?.trim() === "›" && rows.length > 6)
      pty.resize(60, 20)
      pty.type(`say ${"three four ".repeat(12).trim()}${enter}`)
      const rows = yield* pty.until((now) => now.some((row) => row.startsWith("  three four")))
      const text = rows.filter((row) => row.startsWith("  three") || row.startsWith("  four"))
      for (const row of text) assert.isAtMost(widthOf(row), 59)
      pty.type("\u0004")
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )

  it.live("shows nothing of a model or a command that a terminal would obey", () =>
    Effect.gen(function* () {
      const evil = "a\u001b[2Jb\u001b]52;c;aGk=\u0007 \u202e \u009b31m \u0000 end"
      const home = yield* Home.scripted([[{ text: evil }], [{ text: "L".repeat(5000) }]])
      const env = { HOME: home, COLLOQUY_HOME: home }
      const pty = yield* Pty.start(["chat"], { columns: 80, cwd: home, env })
      yield* pty.shows("/help")
      pty.type(`one${enter}`)
      const rows = yield* pty.shows(" end")
      assert.isTrue(rows.some((row) => row.includes("a�[2Jb�]52;c;aGk=�")))
      pty.type(`two${enter}`)
      // Letters of the text only: the name of the working directory, which is shown too, may have some.
      const lettersOf = (rows: ReadonlyArray<string>) =>
        rows
          .filter((row) => /^ +L+$/u.test(row))
          .join("")
          .replaceAll(" ", "").length
      yield* pty.until((now) => lettersOf(now) === 5000)
      pty.type("\u0004")
      yield* pty.ended
      for (const bad of ["\u001b]52", "\u202e", "\u009b", "\u0000", "\u001b[2J"])
        assert.notInclude(pty.raw(), bad)
    }).pipe(Effect.scoped),
  )

  it.live("stays responsive after an output of one long line", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(80, { args: full })
      yield* pty.shows("/help")
      pty.type(`run: head -c 900000 /dev/zero | tr '\\0' x${enter}`)
      const rows = yield* pty.shows("exit 0")
      assert.isTrue(rows.some((row) => row.includes("│ … the rest of the line before this")))
      assert.isAtMost(rows.filter((row) => /^ {2}│ x+$/u.test(row)).length, 12)
      pty.type("\u0004")
      yield* pty.ended
    }).pipe(Effect.scoped),
  )

  it.live(
    "on a terminal that cannot be drawn on, a line typed before a question is a message",
    () =>
      Effect.gen(function* () {
        const { cwd, pty } = yield* chat(80, {
          args: ["-a", "untrusted", "-s", "workspace-write"],
          env: { TERM: "dumb" },
        })
        yield* pty.shows("/help")
        pty.type("run: touch made.txt\nyes\n")
        yield* pty.shows("[y] yes")
        yield* Effect.sleep(300)
        assert.isFalse(existsSync(join(cwd, "made.txt")))
        pty.type("n\n")
        yield* pty.shows("✓ denied")
        yield* pty.shows("It received: yes")
        pty.type(ctrlC)
        assert.strictEqual(yield* pty.ended, 130)
      }).pipe(Effect.scoped),
  )

  it.live("on such a terminal a line that still waits at the end is shown as not sent", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(80, { args: full, env: { TERM: "dumb" } })
      yield* pty.shows("/help")
      pty.type("run: sleep 60\nsay later\n")
      yield* pty.shows("$ sleep 60")
      pty.signal("SIGTERM")
      assert.strictEqual(yield* pty.ended, 143)
      assert.include(pty.rows(), "  ! not sent: say later")
    }).pipe(Effect.scoped),
  )

  it.live("without a terminal each line is a message, and whole items are printed", () =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const { code, stderr, stdout } = Program.run(["chat"], {
        env: { HOME: home, COLLOQUY_HOME: home },
        cwd: home,
        input: "say one\nsay two\n",
      })
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, /› say one\n\n {2}one\n[^]*› say two\n\n {2}two\n/)
      // oxlint-disable-next-line no-control-regex -- the point of it
      assert.notMatch(stdout, /\u001b/)
    }).pipe(Effect.scoped),
  )

  it.live("without a terminal a command that starts no turn holds up no line", () =>
    Effect.gen(function* () {
      const home = yield* Home.home()
      const { code, stdout } = Program.run(["chat"], {
        env: { HOME: home, COLLOQUY_HOME: home },
        cwd: home,
        input: "/compact\n/compact x\nsay one\n/compact\nsay two\n",
      })
      assert.strictEqual(code, 0)
      assert.match(
        stdout,
        /nothing to summarise\n[^]*takes no argument\n[^]*› say one\n[^]*— the history was replaced[^]*› say two\n/,
      )
    }).pipe(Effect.scoped),
  )

  it.live(
    "without a terminal the next line answers a question, and the end of stdin denies it",
    () =>
      Effect.gen(function* () {
        const home = yield* Home.home()
        const run = (input: string) =>
          Program.run(["chat", "-a", "untrusted", "-s", "workspace-write"], {
            env: { HOME: home, COLLOQUY_HOME: home },
            cwd: home,
            input,
          })
        const command = "run: echo made > made.txt; cat made.txt\n"
        assert.match(run(`${command}y\n`).stdout, /✓ approved[^]*exit 0/)
        assert.include(run(command).stdout, "✓ denied")
        // A message that was meant for the model approves nothing by its first letter.
        const message = run(`${command}and then what?\n`).stdout
        assert.include(message, "✓ denied\n  ! that was none of the answers")
      }).pipe(Effect.scoped),
  )
})
