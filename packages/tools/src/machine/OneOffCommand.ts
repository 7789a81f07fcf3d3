/**
 * Runs one program outside of any conversation: in the sandbox of the policy, or not at all (L15). Asks no question and
 * leaves no process behind (L8).
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { CommandNotStarted, CommandResult, Launch, OutputChunk } from "../process/Command.ts"
import type { CommandRunner } from "../process/CommandRunner.ts"
import { environmentOf } from "../environment/EnvironmentPolicy.ts"
import type { Sandbox } from "../sandbox/Sandbox.ts"

/** The program did not run to its end; `message` is for the person who requested it. */
export class OneOffFailed extends Data.TaggedError("OneOffFailed")<{
  readonly message: string
  /** Present when the program could not be confined as its policy requires, and did not run. */
  readonly reason?: "SandboxUnavailable"
}> {}

/** What such a run needs. */
export interface OneOffServices {
  readonly runner: CommandRunner["Service"]
  readonly sandbox: Sandbox["Service"]
  /** Environment of the server. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Variables that hold keys of model providers: no program sees them. */
  readonly secretNames: ReadonlyArray<string>
}

/** The settings of a conversation that apply. */
export type OneOffSettings = Pick<
  ConversationSettings,
  "cwd" | "sandboxPolicy" | "shellEnvironment" | "secretNames"
>

/** A program to run once. */
export interface OneOffCommand {
  readonly argv: Launch["argv"]
  /** The command is ended when it has run for this time; what passes before it runs does not count. */
  readonly timeout: Duration.Duration
  /** Directory, sandbox and environment of the program. */
  readonly settings: OneOffSettings
  /** Variables added to its environment. */
  readonly variables?: Readonly<Record<string, string>>
  /** Names of variables that its environment does not have. */
  readonly withoutVariables?: ReadonlyArray<string>
  /** What it reads from its standard input; absent: that is empty. */
  readonly input?: Launch["input"]
  /** Bytes kept of each stream. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Called with each chunk of the standard output. */
  readonly onOutput?: (bytes: Uint8Array) => Effect.Effect<void>
  /** Called with each chunk of both outputs. */
  readonly onChunk?: (chunk: OutputChunk) => Effect.Effect<void>
}

const killGrace = Duration.millis(500)

const confine = (
  { sandbox }: OneOffServices,
  command: Pick<Launch, "argv" | "cwd" | "env">,
  settings: OneOffSettings,
) => {
  const { sandboxPolicy } = settings
  return sandboxPolicy.mode === "read-only" || sandboxPolicy.mode === "workspace-write"
    ? sandbox.confine(command, sandboxPolicy, settings.cwd)
    : Effect.succeed<Launch>({ ...command, inputs: new Map(), diesWithParent: false })
}

const networkDisabled = ({ sandboxPolicy: policy }: OneOffSettings): boolean =>
  policy.mode === "read-only" || ("network_access" in policy && !policy.network_access)

const failed = ({ message, reason }: CommandNotStarted) =>
  new OneOffFailed({ message, ...(reason === "Sandbox" ? { reason: "SandboxUnavailable" } : {}) })

/** Runs the program. Fails when it never ran; how it ended is in the result. */
export const start = (
  parts: OneOffServices,
  what: OneOffCommand,
): Effect.Effect<CommandResult, OneOffFailed> =>
  Effect.gen(function* () {
    const { onChunk, onOutput, settings, withoutVariables = [] } = what
    const env = environmentOf(parts.environment, settings.shellEnvironment, {
      networkDisabled: networkDisabled(settings),
      providerKeyNames: [...parts.secretNames, ...(settings.secretNames ?? [])],
    })
    const variables = Object.entries({ ...env, ...what.variables }).filter(
      ([name]) => !withoutVariables.includes(name),
    )
    const command = { argv: what.argv, cwd: settings.cwd, env: Object.fromEntries(variables) }
    const launch = Effect.map(confine(parts, command, settings), (confined): Launch => ({
      ...confined,
      ...(what.input === undefined ? {} : { input: what.input }),
    }))
    return yield* parts.runner.run(launch, {
      timeout: what.timeout,
      killGrace,
      onOutput: (chunk) => {
        if (onChunk !== undefined) return onChunk(chunk)
        return chunk.stream === "stdout" && onOutput !== undefined
          ? onOutput(chunk.bytes)
          : Effect.void
      },
      ...(what.maxOutputBytes === undefined ? {} : { maxOutputBytes: what.maxOutputBytes }),
    })
  }).pipe(Effect.scoped, Effect.mapError(failed))

/** The result of a program that ended by itself. */
export interface OneOffResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Numbers that a shell adds to 128 for a program that a signal killed. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGTERM: 15,
}

type Ended = Exclude<CommandResult["exit"], { readonly _tag: "TimedOut" }>

/** The exit code as a shell reports it. */
export const exitCodeOf = (exit: Ended): number =>
  exit._tag === "Exited" ? exit.code : 128 + (signalNumbers[exit.signal] ?? 0)

/** Runs the program. Fails when it never ran or timed out. */
export const run = Effect.fnUntraced(function* (
  parts: OneOffServices,
  what: OneOffCommand,
): Effect.fn.Return<OneOffResult, OneOffFailed> {
  const { exit, stderr, stdout } = yield* start(parts, what)
  if (exit._tag === "TimedOut") {
    const message = `command timed out after ${Duration.toMillis(exit.after)} milliseconds`
    return yield* new OneOffFailed({ message })
  }
  return { exitCode: exitCodeOf(exit), stdout: stdout.text, stderr: stderr.text }
})
