/**
 * `command/exec`: runs one command in the sandbox of the request, or in that of the configuration (L15). It ends with the
 * request or its connection, and leaves nothing running (L8).
 */
import {
  type CommandExec,
  CommandExecOutputDelta,
  type TerminalSize,
} from "@colloquy/protocol/thread/Commands"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import { shortened } from "@colloquy/protocol/text/Shortened"
import type { Done } from "effect/Cause"
import * as Base64 from "effect/encoding/Base64"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { internal, invalid } from "../../../app/AppErrors.ts"
import { settingsOf } from "../../../app/ConversationResult.ts"
import { policyOf } from "../../ThreadOverrides.ts"
import { CommandInput } from "../CommandInput.ts"
import type { HostCall, HostHandler } from "../HostCall.ts"
import { badValue, cannotRun, notServed } from "../HostErrors.ts"
import type { RunningCommand } from "../HostConnection.ts"
import { type ClientCommand, CommandPort } from "../ports/CommandPort.ts"

type Given = Params<typeof CommandExec>

/** As for `execOneOffCommand`. */
const defaultTimeoutMs = 10_000
/** Longest time of a timer; without a timeout a command may run for these 24 days. */
const longestMs = 2 ** 31 - 1
/** Bytes of each stream that are kept unless the client says otherwise, and most that are ever kept. */
const defaultOutputBytes = 1024 * 1024
const maxOutputBytes = 32 * 1024 * 1024
/** The size of a terminal that the client gives none. */
const defaultSize: TerminalSize = { rows: 24, cols: 80 }

/** The exit code of a command that the client has ended. */
const terminated: ResultOf<typeof CommandExec> = { exitCode: 1, stdout: "", stderr: "" }

const timeoutOf = (given: Given): Effect.Effect<Duration.Duration, JsonRpcError> => {
  const { timeoutMs } = given
  if (given.disableTimeout === true) {
    return timeoutMs == null
      ? Effect.succeed(Duration.millis(longestMs))
      : Effect.fail(badValue("command/exec cannot set both timeoutMs and disableTimeout"))
  }
  if (timeoutMs != null && timeoutMs < 0) {
    return Effect.fail(badValue(`command/exec timeoutMs must be non-negative, got ${timeoutMs}`))
  }
  return Effect.succeed(Duration.millis(Math.min(longestMs, timeoutMs ?? defaultTimeoutMs)))
}

const capOf = (given: Given): Effect.Effect<number | undefined, JsonRpcError> => {
  const { disableOutputCap, outputBytesCap: cap } = given
  if (disableOutputCap !== true) return Effect.succeed(cap ?? defaultOutputBytes)
  return cap == null
    ? Effect.undefined
    : Effect.fail(badValue("command/exec cannot set both outputBytesCap and disableOutputCap"))
}

/** Notifies output up to the limit of each stream, and says in the last piece that the limit is reached. */
const notifier = (
  processId: string,
  cap: number | undefined,
  { peer }: Pick<HostCall, "peer">,
): ClientCommand["onOutput"] => {
  const sent = { stdout: 0, stderr: 0 }
  return (stream, bytes) => {
    const left = cap === undefined ? bytes.length : Math.max(0, cap - sent[stream])
    if (left === 0) return Effect.void
    const piece = bytes.subarray(0, left)
    sent[stream] += piece.length
    const capReached = cap !== undefined && sent[stream] >= cap
    const delta = { processId, stream, deltaBase64: Base64.encode(piece), capReached }
    return Effect.catch(peer.notify(CommandExecOutputDelta, [delta]), ({ reason }) =>
      Effect.logDebug(`output is not notified: ${reason}`),
    )
  }
}

/** Checks what does not depend on the configuration. */
const checked = Effect.fnUntraced(function* (given: Given, call: HostCall) {
  const [program, ...args] = given.command
  if (program === undefined) return yield* invalid("command must not be empty")
  const streams =
    given.tty === true || given.streamStdin === true || given.streamStdoutStderr === true
  const { processId } = given
  if (streams && processId == null) {
    return yield* invalid("command/exec tty or streaming requires a client-supplied processId")
  }
  if (processId != null && call.host.commands.has(processId)) {
    return yield* invalid(`duplicate active command/exec process id: ${JSON.stringify(processId)}`)
  }
  if (given.size != null && given.tty !== true) {
    return yield* badValue("command/exec size requires tty: true")
  }
  if (given.permissionProfile != null)
    return yield* notServed("command/exec with `permissionProfile`")
  const badVariable = badVariableOf(given)
  if (badVariable !== undefined) return yield* badValue(badVariable)
  const argv: ClientCommand["argv"] = [program, ...args]
  return { argv, timeout: yield* timeoutOf(given), cap: yield* capOf(given) }
})

/** A variable that no process can have: its name or its value would be read as something else. */
const badVariableOf = ({ env }: Given): string | undefined => {
  for (const [name, value] of Object.entries(env ?? {})) {
    if (name === "" || /[=\0]/.test(name)) {
      return `command/exec env: expected names that are not empty and without "=" and NUL, got ${JSON.stringify(shortened(name, 100))}`
    }
    if (value?.includes("\0") === true) {
      return `command/exec env.${shortened(name, 100)}: expected a value without NUL`
    }
  }
  return undefined
}

/** Runs the command under its id, so that the client can write to it and end it. */
const runAs = <R>(
  processId: string | null | undefined,
  running: RunningCommand,
  run: Effect.Effect<ResultOf<typeof CommandExec>, JsonRpcError, R>,
  { host: { commands }, peer }: HostCall,
) => {
  const ended =
    peer.ended === undefined || running.input === undefined
      ? Effect.never
      : Effect.andThen(peer.ended, Effect.fail(internal("the connection has ended")))
  const ends = Effect.raceFirst(Effect.as(Deferred.await(running.terminated), terminated), ended)
  if (processId == null) return Effect.raceFirst(run, ended)
  return Effect.suspend(() => {
    commands.set(processId, running)
    // A request to write may be waiting for the command to read.
    const refuse = running.input === undefined ? Effect.void : running.input.shutdown
    return Effect.ensuring(
      Effect.raceFirst(run, ends),
      Effect.andThen(
        Effect.sync(() => commands.delete(processId)),
        refuse,
      ),
    )
  })
}

/** What the client can do to the command while it runs. A terminal is always typed into. */
const runningOf = Effect.fnUntraced(function* ({ streamStdin, tty }: Given) {
  const isTerminal = tty === true
  const running: RunningCommand = {
    terminated: Deferred.makeUnsafe<void>(),
    ...(isTerminal || streamStdin === true ? { input: yield* CommandInput.make } : {}),
    // Only the last size counts.
    ...(isTerminal ? { sizes: yield* Queue.sliding<TerminalSize, Done>(1) } : {}),
  }
  return running
})

/** Runs what was checked, with the settings of the request. */
const runChecked = Effect.fnUntraced(function* (
  given: Given,
  { argv, cap, timeout }: Effect.Success<ReturnType<typeof checked>>,
  { input, sizes }: RunningCommand,
  call: HostCall,
) {
  const { cwd, processId, sandboxPolicy } = given
  const settings = yield* settingsOf(cwd == null ? {} : { cwd })
  const policy = sandboxPolicy == null ? undefined : yield* policyOf(sandboxPolicy)
  const isTerminal = sizes !== undefined
  const streams = (given.streamStdoutStderr === true || isTerminal) && processId != null
  const port = yield* CommandPort
  const run = port.run({
    argv,
    timeout,
    settings: policy === undefined ? settings : { ...settings, sandboxPolicy: policy },
    variables: given.env ?? {},
    maxOutputBytes: streams ? 0 : Math.min(cap ?? maxOutputBytes, maxOutputBytes),
    ...(input === undefined ? {} : { input: input.stream }),
    ...(isTerminal
      ? { terminal: { size: given.size ?? defaultSize, sizes: Stream.fromQueue(sizes) } }
      : {}),
    onOutput: streams ? notifier(processId, cap, call) : () => Effect.void,
  })
  return yield* Effect.mapError(run, cannotRun)
})

/** Handler of the method. */
export const commandExec: HostHandler<typeof CommandExec> = Effect.fnUntraced(
  function* (given, call) {
    const what = yield* checked(given, call)
    const running = yield* runningOf(given)
    // It has its id from here on, before anything is waited for: a second one is refused, and the client can end it.
    return yield* runAs(given.processId, running, runChecked(given, what, running, call), call)
  },
)
