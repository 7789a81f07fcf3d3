/**
 * The program in a pseudo-terminal, whose screen a test reads. `script` of util-linux gives the terminal, and an emulator
 * says what a person would see.
 */
import xterm from "@xterm/headless"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFileSync, spawn } from "node:child_process"
import { readFileSync, readlinkSync } from "node:fs"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("../../bin/colloquy.mjs", import.meta.url))

/** The screen did not become what a test waits for. */
class NeverShown extends Data.TaggedError("NeverShown")<{
  readonly message: string
}> {}

/** Less than the time of a test, so that a test that waits in vain says what it saw. */
const patience = Duration.seconds(25)

/** A program in its terminal. */
export interface Pty {
  /** Types this text. */
  readonly type: (text: string) => void
  /**
   * Waits until a row contains this text, and resolves with all rows from the first that was ever written. Fails with these
   * rows in its message after `PtyOptions.patience`.
   */
  readonly shows: (text: string) => Effect.Effect<ReadonlyArray<string>, NeverShown>
  /** Waits until the screen satisfies this, and fails as `shows`. */
  readonly until: (
    test: (rows: ReadonlyArray<string>) => boolean,
  ) => Effect.Effect<ReadonlyArray<string>, NeverShown>
  /** Rows now, without empty ones at the end. */
  readonly rows: () => ReadonlyArray<string>
  /** Column and row of the cursor; rows count from the first that was ever written. */
  readonly cursor: () => { readonly column: number; readonly row: number }
  /** Everything that was written, with escape sequences. */
  readonly raw: () => string
  /** Sends a signal to the program. */
  readonly signal: (name: NodeJS.Signals) => void
  /** Changes the size of the terminal. */
  readonly resize: (columns: number, rows: number) => void
  /** Exit code of the program, once it has ended and everything was written. */
  readonly ended: Effect.Effect<number | null>
}

/** How the terminal is. */
export interface PtyOptions {
  readonly columns: number
  readonly rows?: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** True: an interactive shell runs instead, in which a test types what `commandOf` gives. Its prompt is `$ `. */
  readonly isShell?: true
  /** A shell command that runs in the terminal after the program. */
  readonly after?: string
  /** How long `shows` and `until` wait; 25 seconds unless given. */
  readonly patience?: Duration.Input
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** The program as it is typed in a shell. */
export const commandOf = (args: ReadonlyArray<string>): string =>
  [process.execPath, entry, ...args].map(quoted).join(" ")

const shellCommand = "env PS1='$ ' bash --norc --noprofile -i"

const spawned = (
  args: ReadonlyArray<string>,
  { after, columns, cwd, env, isShell, rows = 24 }: PtyOptions,
) => {
  const command = isShell === true ? shellCommand : commandOf(args)
  const run = after === undefined ? `exec ${command}` : `${command}; code=$?; ${after}; exit $code`
  return spawn("script", ["-qec", `stty cols ${columns} rows ${rows}; ${run}`, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"], TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  })
}

const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)

/** The program: below `script`, and below a shell where something runs after it. */
const programOf = (pid: number): number => {
  const [child] = childrenOf(pid)
  if (child === undefined) return pid
  return readFileSync(`/proc/${child}/comm`, "utf8").trim() === "sh" ? programOf(child) : child
}

const rowsIn = (terminal: xterm.Terminal): ReadonlyArray<string> => {
  const { active } = terminal.buffer
  const rows = Array.from(
    { length: active.length },
    (_, index) => active.getLine(index)?.translateToString(true) ?? "",
  )
  while (rows.at(-1) === "") rows.pop()
  return rows
}

/** Resolves with the rows once they satisfy the test, which is asked after each piece that was written. */
const waiting = (
  watchers: Set<() => void>,
  test: (rows: ReadonlyArray<string>) => boolean,
  rowsNow: () => ReadonlyArray<string>,
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    const watcher = () => {
      const rows = rowsNow()
      if (!test(rows)) return
      watchers.delete(watcher)
      resume(Effect.succeed(rows))
    }
    watchers.add(watcher)
    watcher()
    return Effect.sync(() => watchers.delete(watcher))
  })

const neverShown = (awaited: string, rows: ReadonlyArray<string>): NeverShown =>
  new NeverShown({
    message: `expected ${awaited}; the ${rows.length} rows are:\n${rows.map((row) => `| ${row}`).join("\n")}`,
  })

/** Starts the program; if it still runs when the scope closes, it is killed. */
export const start = (
  args: ReadonlyArray<string>,
  options: PtyOptions,
): Effect.Effect<Pty, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => spawned(args, options)),
      (child) => Effect.sync(() => child.kill("SIGKILL")),
    ),
    (child) => {
      const terminal = new xterm.Terminal({
        cols: options.columns,
        rows: options.rows ?? 24,
        scrollback: 10_000,
        allowProposedApi: true,
      })
      const watchers = new Set<() => void>()
      let raw = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        raw += text
        terminal.write(text, () => {
          for (const watcher of watchers) watcher()
        })
      })
      const closed = new Promise<number | null>((resolve) => {
        child.once("close", (code) => terminal.write("", () => resolve(code)))
      })
      const until = (awaited: string, test: (rows: ReadonlyArray<string>) => boolean) =>
        waiting(watchers, test, () => rowsIn(terminal)).pipe(
          Effect.timeoutOrElse({
            duration: options.patience ?? patience,
            orElse: () => Effect.fail(neverShown(awaited, rowsIn(terminal))),
          }),
        )
      return {
        type: (text) => void child.stdin.write(text),
        until: (test) => until(`a screen that satisfies ${String(test)}`, test),
        shows: (text) =>
          until(`a row with "${text}"`, (rows) => rows.some((row) => row.includes(text))),
        signal: (name) => void process.kill(programOf(child.pid ?? 0), name),
        resize: (columns, rows) => {
          terminal.resize(columns, rows)
          const device = readlinkSync(`/proc/${programOf(child.pid ?? 0)}/fd/0`)
          const size = ["cols", `${columns}`, "rows", `${rows}`]
          execFileSync("stty", ["-F", device, ...size])
        },
        rows: () => rowsIn(terminal),
        cursor: () => {
          const { baseY, cursorX, cursorY } = terminal.buffer.active
          return { column: cursorX, row: baseY + cursorY }
        },
        raw: () => raw,
        ended: Effect.promise(() => closed),
      }
    },
  )
