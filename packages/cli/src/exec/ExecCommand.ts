/**
 * The command `exec`: runs one turn and ends. Events as JSON lines or the last message on stdout, everything else on stderr.
 *
 * Exit codes: 0 the turn completed; 1 it failed, or nothing was started; 2 the command line is not valid; 130 and 143 after
 * SIGINT and SIGTERM, once the interrupted turn has reported its end; 141 the reader of stdout has gone, and the turn was
 * interrupted where it still ran.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Application from "../Application.ts"
import type { Launch } from "../args/Args.ts"
import { withNamedProvider } from "../config/NamedProvider.ts"
import { errorLine } from "../log/ErrorLine.ts"
import { start, type Started } from "../server/Started.ts"
import { version } from "../server/Version.ts"
import { forPeople } from "../terminal/PeopleLog.ts"
import type { ExecEvent } from "./ExecEvents.ts"
import { ExecFailed } from "./ExecFailed.ts"
import type { ExecOptions } from "./ExecOptions.ts"
import { writeLastMessage } from "./LastMessage.ts"
import { type ExecResult, runExec } from "./RunExec.ts"
import { transcriptOutput } from "./TerminalOutput.ts"
import { stdinPrompt } from "./StdinPrompt.ts"
import { Transcript } from "./Transcript.ts"
import { jsonText } from "../terminal/JsonText.ts"

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Exit code where the reader has closed stdout: that of a program which SIGPIPE ends. Node ignores the signal. */
const closedPipe = 141

/** Where the signals of the process and the end of its reader arrive. */
interface Stop {
  readonly latch: Latch.Latch
  /** Exit code of the signal that came; undefined before one. */
  code: number | undefined
  /** Why stdout cannot be written, as a code of the system; undefined while it can. A closed pipe is no failure. */
  unwritable: string | undefined
}

/** True where the turn failed by itself: neither a signal nor the end of stdout, which has a line of its own, ended it. */
const isErrorOf = ({ code, unwritable }: Stop): boolean =>
  code === undefined && unwritable === undefined

/** What the transcript shows of these events: the reason of a failure at most once, and not where the line of the error has it. */
const withoutReason = (events: ReadonlyArray<ExecEvent>, stop: Stop): ReadonlyArray<ExecEvent> => {
  const failed = events.find(({ type }) => type === "turn.failed")
  const reason = failed?.type === "turn.failed" ? failed.error.message : undefined
  return events.filter((event) =>
    event === failed ? !isErrorOf(stop) : event.type !== "error" || event.message !== reason,
  )
}

/** A first signal interrupts the turn; a second one ends the process. */
const listen = (): Stop => {
  const stop: Stop = {
    latch: Latch.makeUnsafe(false),
    code: undefined,
    unwritable: undefined,
  }
  for (const [signal, code] of Object.entries(signals)) {
    process.on(signal, () => {
      if (stop.code !== undefined) process.exit(code)
      stop.code = code
      stop.latch.openUnsafe()
    })
  }
  // Instead of the listener that ends other commands. Either the reader has closed the pipe (`| head`), and the rest is read by no program, or the disk is full.
  process.stdout
    .removeAllListeners("error")
    .on("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (code === "EPIPE") stop.code ??= closedPipe
      else stop.unwritable ??= code ?? message
      stop.latch.openUnsafe()
    })
  return stop
}

const isColored = (color: ExecOptions["color"]): boolean =>
  color === "auto"
    ? process.stderr.isTTY &&
      (process.env["NO_COLOR"] ?? "") === "" &&
      process.env["TERM"] !== "dumb"
    : color === "always"

type SettingKey = "model" | "sandbox_mode" | "model_reasoning_effort"

/** True for a key that an option or `-c` sets. */
const setsKey =
  ({ flags = [], overrides }: Launch) =>
  (key: SettingKey): boolean =>
    flags.some((flag) => flag.key === key) ||
    overrides.some((override) => override.split("=", 1)[0]?.trim() === key)

const transcriptFor = (options: ExecOptions, { columns, isTTY }: NodeJS.WriteStream) =>
  new Transcript({
    color: isColored(options.color),
    ...(isTTY ? { columns: columns || 80 } : {}),
  })

const runTurn = (options: ExecOptions, launch: Launch, started: Started, stop: Stop) => {
  const { stderr, stdout } = process
  const transcript = transcriptFor(options, stderr)
  const output = transcriptOutput(stderr)
  const report = (events: ReadonlyArray<ExecEvent>): void => {
    if (options.json) return events.forEach((one) => void stdout.write(`${jsonText(one)}\n`))
    if (events.some(({ type }) => type === "turn.completed" || type === "turn.failed")) output.end()
    for (const one of withoutReason(events, stop)) output.write(transcript.event(one))
  }
  return runExec({
    options,
    sets: setsKey(launch),
    report,
    started: ({ conversation, prompt, settings }) => {
      if (options.json) return
      output.write(
        transcript.heading({
          version,
          threadId: conversation.id,
          model: settings.model,
          provider: settings.provider.id,
          cwd: settings.cwd,
          sandbox: settings.sandboxPolicy.mode,
          prompt,
        }),
      )
      output.begin()
    },
    write: started.write,
    input: stdinPrompt(),
    hiddenPaths: started.environment.hiddenDirectories,
    stopped: stop.latch.await,
  }).pipe(
    Effect.ensuring(Effect.sync(output.end)),
    Application.provided(
      { originator: "colloquy_exec", source: "exec" },
      {
        ...started,
        environment: forPeople(started.environment),
        close: Effect.void,
        storedSettings: withNamedProvider(started.startup),
      },
    ),
  )
}

/** The line of an error, by whose beginning a script finds it. */
const errorOf = (message: string): string => `Error: ${message.trim().replaceAll(/\s*\n\s*/g, " ")}`

const finish = (
  options: ExecOptions,
  exit: Exit.Exit<ExecResult, ExecFailed>,
  stop: Stop,
  write: (line: string) => void,
): number => {
  if (Exit.isFailure(exit)) {
    const error = Cause.squash(exit.cause)
    const message = error instanceof ExecFailed ? error.message : errorLine(error)
    write(errorOf(message))
    const problem = writeLastMessage(options.outputLastMessage, "")
    if (problem !== undefined && problem !== message) write(errorOf(problem))
    return 1
  }
  const { failure, lastMessage = "" } = exit.value
  const isFailed = failure !== undefined
  if (isFailed && isErrorOf(stop)) write(errorOf(failure))
  const problem = writeLastMessage(options.outputLastMessage, isFailed ? "" : lastMessage)
  if (problem !== undefined) write(errorOf(problem))
  // On a terminal it is in the transcript already.
  const isShown = process.stdout.isTTY && process.stderr.isTTY
  if (!options.json && !isFailed && !isShown) process.stdout.write(`${lastMessage}\n`)
  return isFailed || problem !== undefined ? 1 : 0
}

/** Resolves when everything was written on stdout, or it is known that it cannot be. */
const flushed = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write("", () => setImmediate(resolve))
  })

/** Runs the command. Resolves with the exit code. */
export const run = async (options: ExecOptions, launch: Launch): Promise<number> => {
  const stop = listen()
  const given = options.ephemeral
    ? { ...launch, overrides: [...launch.overrides, "conversation_store=memory"] }
    : launch
  const started = await start(given, { needsProvider: true, errorOf })
  if (started === undefined) return 1
  const exit = await Effect.runPromiseExit(runTurn(options, given, started, stop))
  const code = finish(options, exit, stop, started.write)
  await flushed()
  if (stop.unwritable !== undefined) {
    started.write(errorOf(`stdout cannot be written (${stop.unwritable})`))
    return 1
  }
  return stop.code ?? code
}
