/**
 * Reads what a program writes: keeps it within bounds and delivers it, without the messages of the gate, the sandbox and
 * the launcher, which are no output of the program. Decides by those messages whether the program ran at all.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { Capture, defaultMaxBytes } from "./Capture.ts"
import type { Launch, OutputChunk } from "./Command.ts"
import { diagnose, launcherFault, sandboxFault } from "./StartFailure.ts"
import type { StartedProgram } from "./StartedProgram.ts"
import * as StartGate from "./StartGate.ts"

/** Bubblewrap writes two lines to its status descriptor; anything longer does not come from it. */
const maxStatusBytes = 64 * 1024

/** How much output is kept, and where it is delivered. */
export interface OutputOptions {
  /** Bytes kept of each stream, half of them from its head and half from its tail. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Called with each chunk as it is read. Until it completes, no more is read, so the program may have to wait. */
  readonly onOutput: (chunk: OutputChunk) => Effect.Effect<void>
}

/** Reads to the end of the stream; a broken pipe counts as its end. */
const read = (
  stream: Stream.Stream<Uint8Array, PlatformError>,
  take: (bytes: Uint8Array) => Effect.Effect<void>,
) => Effect.forkScoped(Effect.ignore(Stream.runForEach(stream, take)))

/** Captures what a program writes, and delivers it without the messages of the gate and the launcher. */
const captureOutput = (isGated: boolean, launch: Launch, options: OutputOptions) => {
  const limit = options.maxOutputBytes ?? defaultMaxBytes
  const [stdout, isJoined] = [new Capture(limit), launch.joinsOutput === true]
  const captures = {
    stdout,
    stderr: new Capture(limit),
    aggregated: isJoined ? stdout : new Capture(limit),
    status: new Capture(maxStatusBytes),
  }
  // Messages of the gate or the launcher are not output of the program.
  const prefixes = [
    ...(isGated ? [StartGate.errorPrefix] : []),
    ...(launch.launcher === undefined ? [] : [launch.launcher.prefix]),
  ]
  const errorStream = isJoined ? "stdout" : "stderr"
  /** Undefined until the first bytes of the error stream arrive. */
  let isStartError: boolean | undefined = prefixes.length === 0 ? false : undefined
  const take = (stream: OutputChunk["stream"]) => (bytes: Uint8Array) => {
    if (stream === errorStream && isStartError === undefined) {
      const text = new TextDecoder().decode(bytes)
      isStartError = prefixes.some((prefix) => text.startsWith(prefix))
    }
    captures[stream].push(bytes)
    if (!isJoined) captures.aggregated.push(bytes)
    return isStartError === true ? Effect.void : options.onOutput({ stream, bytes })
  }
  return { captures, errorOutput: captures[errorStream], take }
}

/** Starts to read all outputs; the readers end with the outputs or with the scope. */
export const readOutput = Effect.fnUntraced(function* (
  { enter, handle, isGated }: StartedProgram,
  launch: Launch,
  options: OutputOptions,
) {
  const { captures, errorOutput, take } = captureOutput(isGated, launch, options)
  const readers = [
    yield* read(handle.stdout, take("stdout")),
    yield* read(handle.stderr, take("stderr")),
  ]
  if (launch.statusFd !== undefined) {
    const takeStatus = (bytes: Uint8Array) => {
      captures.status.push(bytes)
      const child = /"child-pid": (\d+)\D/.exec(captures.status.finish().text)
      return child === null ? Effect.void : enter(Number(child[1]))
    }
    readers.push(yield* read(handle.getOutputFd(launch.statusFd), takeStatus))
  }
  return { captures, readers, errorOutput }
})

/** Fails when what exited with this code was the gate, the sandbox or the launcher, so that the program never ran. */
export const requireRan = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  launch: Launch,
  exited: Pick<Effect.Success<ReturnType<typeof readOutput>>, "captures" | "errorOutput"> &
    Pick<StartedProgram, "isGated"> & { readonly code: number },
) {
  const { captures, code, errorOutput, isGated } = exited
  const message = errorOutput.finish().text
  if (isGated && code !== 0 && StartGate.isGateError(message)) {
    const fault = diagnose(fs, launch, { code: StartGate.errorCode(message, code) })
    return yield* Effect.flatMap(fault, Effect.fail)
  }
  const ran = launch.statusFd === undefined || captures.status.finish().text.includes('"exit-code"')
  if (!ran) return yield* sandboxFault(message)
  const { launcher } = launch
  if (launcher !== undefined && code !== 0 && message.startsWith(launcher.prefix)) {
    return yield* launcherFault(launcher, code, message)
  }
})
