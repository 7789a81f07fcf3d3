/**
 * One attempt to run a command, confined or not, with its events from start to end. Each attempt has its own pair of
 * `exec_command_begin` and `exec_command_end`, also one that could not start (exit code -1, as in the original).
 */
import type { Confinement } from "@colloquy/core/approvals/Confinement"
import { parsedCommand } from "../policy/ParsedCommand.ts"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { wireDuration } from "@colloquy/protocol/events/WireDuration"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Capture, defaultMaxBytes } from "../process/Capture.ts"
import type { CommandNotStarted, CommandResult, Launch } from "../process/Command.ts"
import type { CommandRunner } from "../process/CommandRunner.ts"
import { environmentOf } from "../environment/EnvironmentPolicy.ts"
import * as OutputDeltas from "../process/OutputDeltas.ts"
import { exitCodeOf, formatted } from "../process/OutputFormat.ts"
import type { Sandbox, Unconfined } from "../sandbox/Sandbox.ts"
import { inLoginShell, userShell } from "./LoginShell.ts"
import type { ShellCall } from "./ShellCall.ts"

/** A command as it will run. */
export interface AttemptCommand {
  readonly callId: string
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** Working directory, an absolute path. */
  readonly cwd: string
  /** The command is ended after this time. */
  readonly timeout: Duration.Duration
  /** Who runs it; absent: the agent. */
  readonly source?: "user_shell"
}

/** Runs attempts. */
export interface Attempts {
  /** The command that runs for a call under these settings. */
  readonly commandOf: (
    call: ShellCall,
    callId: string,
    cwd: string,
    settings: ConversationSettings,
  ) => AttemptCommand
  /** A line of the user in the user's shell. */
  readonly userCommandOf: (line: string, callId: string, cwd: string) => AttemptCommand
  /** Runs the command. Never fails; a program that never ran is a failure in the result. */
  readonly run: (
    command: AttemptCommand,
    confinement: Confinement,
    context: ToolContext,
  ) => Effect.Effect<Result.Result<CommandResult, CommandNotStarted>>
  /** Reports a command that does not run, for this reason, as one that could not start. */
  readonly refuse: (
    command: AttemptCommand,
    fault: CommandNotStarted,
    context: ToolContext,
  ) => Effect.Effect<void>
}

/** Default of the original. */
const defaultTimeout = Duration.seconds(10)

/** Long enough for a build or a test; the user can interrupt the turn before. */
const userTimeout = Duration.hours(1)

/** Equal to the default of the core's turn runner: an interrupt completes within a second plus this time. */
const defaultKillGrace = Duration.millis(500)

const endEvent = (
  callId: string,
  outcome: Result.Result<CommandResult, CommandNotStarted>,
  took: Duration.Duration,
): EventMsg => {
  if (Result.isFailure(outcome)) {
    const text = `execution error: ${outcome.failure.message}`
    return {
      type: "exec_command_end",
      call_id: callId,
      stdout: "",
      stderr: text,
      aggregated_output: text,
      exit_code: -1,
      duration: wireDuration(Duration.toMillis(took)),
      formatted_output: text,
    }
  }
  const result = outcome.success
  return {
    type: "exec_command_end",
    call_id: callId,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    aggregated_output: result.aggregated.text,
    exit_code: exitCodeOf(result),
    duration: wireDuration(Duration.toMillis(result.duration)),
    formatted_output: formatted(result),
  }
}

/** The end of a command that was interrupted: with what it has printed, which the model and later readers would miss. */
const interruptedEvent = (callId: string, output: string, took: Duration.Duration): EventMsg => ({
  type: "exec_command_end",
  call_id: callId,
  stdout: output,
  stderr: "",
  aggregated_output: output,
  exit_code: -1,
  duration: wireDuration(Duration.toMillis(took)),
  formatted_output: output,
})

/** What attempts need. */
export interface AttemptsOptions {
  readonly runner: CommandRunner["Service"]
  readonly sandbox: Sandbox["Service"]
  /** Environment of the server. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Variables that hold keys of model providers: no command sees them. */
  readonly secretNames: ReadonlyArray<string>
  /** Removes the entries of a search path where commands can write. */
  readonly safeSearchPath: (searchPath: string) => Effect.Effect<string>
}

const isConfining = ({ sandboxPolicy: { mode } }: ConversationSettings): boolean =>
  mode === "read-only" || mode === "workspace-write"

const networkAllowed = (settings: ConversationSettings): boolean => {
  const { sandboxPolicy } = settings
  switch (sandboxPolicy.mode) {
    case "danger-full-access":
      return true
    case "read-only":
      return false
    case "workspace-write":
    case "external-sandbox":
      return sandboxPolicy.network_access ?? false
  }
}

/** What became of an attempt: what the command did, or why it did not start. */
type Attempted = Effect.Effect<Result.Result<CommandResult, CommandNotStarted>>

/** Gets what a command that is interrupted has printed. */
type OnInterrupt = (output: string) => Effect.Effect<void>

/** Runs attempts; keeps nothing between them. */
class AttemptRunner {
  private readonly options: AttemptsOptions

  constructor(options: AttemptsOptions) {
    this.options = options
  }

  /** Runs one attempt between its two events. */
  run(command: AttemptCommand, confinement: Confinement, context: ToolContext) {
    return this.report(
      command,
      (onInterrupt) => this.outcomeOf(command, confinement, context, onInterrupt),
      context,
    )
  }

  /** The two events of an attempt, around what runs it. `running` gets what to do with the output when it is interrupted. */
  report(
    command: AttemptCommand,
    running: (onInterrupt: OnInterrupt) => Attempted,
    context: ToolContext,
  ): Attempted {
    return Effect.gen(function* () {
      const { argv, callId, cwd, source } = command
      yield* context.emit({
        type: "exec_command_begin",
        call_id: callId,
        command: argv,
        cwd,
        parsed_cmd: parsedCommand(argv),
        ...defined({ source }),
      })
      const before = yield* Clock.currentTimeMillis
      const took = Effect.map(Clock.currentTimeMillis, (now) => Duration.millis(now - before))
      const outcome = yield* running((output) =>
        Effect.flatMap(took, (time) => context.emit(interruptedEvent(callId, output, time))),
      )
      yield* context.emit(endEvent(callId, outcome, yield* took))
      return outcome
    })
  }

  /** Runs the command and delivers its output while it runs. `onInterrupt` gets the output of one that is interrupted. */
  private outcomeOf(
    command: AttemptCommand,
    confinement: Confinement,
    context: ToolContext,
    onInterrupt: OnInterrupt,
  ) {
    const printed = new Capture(defaultMaxBytes)
    return Effect.gen({ self: this }, function* () {
      const { settings } = context
      const env = yield* this.environmentFor(confinement, context)
      const launch = Effect.map(
        this.launchOf({ argv: command.argv, cwd: command.cwd, env }, confinement, settings),
        // Two pipes would lose the order in which a command writes to both.
        (one): Launch => ({ ...one, joinsOutput: true }),
      )
      const deltas = yield* OutputDeltas.make(command.callId, context.emit)
      const result = yield* this.options.runner
        .run(launch, {
          timeout: command.timeout,
          killGrace: settings.killGrace ?? defaultKillGrace,
          onOutput: (chunk) => {
            printed.push(chunk.bytes)
            return deltas.push(chunk)
          },
        })
        .pipe(Effect.onInterrupt(() => deltas.flush))
      yield* deltas.flush
      return result
    }).pipe(
      Effect.scoped,
      Effect.onInterrupt(() => Effect.suspend(() => onInterrupt(printed.finish().text))),
      Effect.result,
    )
  }

  /** The whole environment of the command. */
  private environmentFor(confinement: Confinement, context: ToolContext) {
    const { environment, safeSearchPath, secretNames } = this.options
    const { settings } = context
    return Effect.suspend(() => {
      const env = environmentOf(environment, settings.shellEnvironment, {
        networkDisabled:
          confinement !== "none" &&
          confinement.granted?.network !== true &&
          !networkAllowed(settings),
        providerKeyNames: [...secretNames, ...(settings.secretNames ?? [])],
        conversationId: context.conversationId,
      })
      // A confined command could otherwise replace the program that a person approved by its name.
      return confinement === "none" && isConfining(settings)
        ? Effect.map(safeSearchPath(env["PATH"] ?? ""), (PATH) => ({ ...env, PATH }))
        : Effect.succeed(env)
    })
  }

  private launchOf(command: Unconfined, confinement: Confinement, settings: ConversationSettings) {
    return confinement === "none"
      ? Effect.succeed<Launch>({ ...command, inputs: new Map(), diesWithParent: false })
      : this.options.sandbox.confine(command, confinement, settings.cwd)
  }
}

/** Attempts on this machine. */
export const make = (options: AttemptsOptions): Attempts => {
  const attempts = new AttemptRunner(options)
  return {
    commandOf: ({ command, timeoutMs }, callId, cwd, settings) => ({
      callId,
      cwd,
      argv: settings.useLoginShell === true ? inLoginShell(command, options.environment) : command,
      timeout: timeoutMs === undefined ? defaultTimeout : Duration.millis(timeoutMs),
    }),
    userCommandOf: (line, callId, cwd) => ({
      callId,
      cwd,
      argv: userShell(line, options.environment),
      timeout: userTimeout,
      source: "user_shell",
    }),
    run: (command, confinement, context) => attempts.run(command, confinement, context),
    refuse: (command, fault, context) =>
      Effect.asVoid(attempts.report(command, () => Effect.succeed(Result.fail(fault)), context)),
  }
}
