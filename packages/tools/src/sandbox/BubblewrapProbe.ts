/**
 * Finds bubblewrap and tries it with the flags that commands run with, so that the answer to "does it work here" is
 * the machine's own. Part of L15.
 */
import * as Effect from "effect/Effect"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ProgramNotTrusted, TrustedPrograms } from "../process/TrustedPrograms.ts"
import { bubblewrapArgv } from "./BubblewrapArgv.ts"
import { adviceFor } from "./BubblewrapFailure.ts"
import type { SandboxStatus } from "./Sandbox.ts"

const probeLimit = "5 seconds"

export const seccompFd = 3
export const statusFd = 4

const decode = <R>(stream: Stream.Stream<Uint8Array, PlatformError.PlatformError, R>) =>
  stream.pipe(Stream.decodeText(), Stream.mkString)

/** Both outputs and the exit code of a short run without an environment. */
const outputOf = Effect.fnUntraced(function* (
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  seccomp?: Uint8Array,
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(program, args, {
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      stdin: "ignore",
      forceKillAfter: "100 millis",
      additionalFds:
        seccomp === undefined
          ? {}
          : {
              [`fd${seccompFd}`]: { type: "input", stream: Stream.make(seccomp) },
              [`fd${statusFd}`]: { type: "output" },
            },
    }),
  )
  const [text, code] = yield* Effect.all([decode(handle.all), handle.exitCode], {
    concurrency: "unbounded",
  })
  return { text: text.trim(), code: Number(code) }
}, Effect.scoped)

const unavailable = (reason: string): SandboxStatus => ({
  _tag: "Unavailable",
  reason,
  advice: adviceFor(reason),
})

const tryIt = Effect.fnUntraced(function* (bwrap: string, nothing: string, seccomp: Uint8Array) {
  const version = yield* outputOf([bwrap, "--version"])
  const run = yield* outputOf(
    bubblewrapArgv({
      bwrap,
      argv: [nothing],
      cwd: "/",
      writableRoots: [],
      guards: [],
      network: false,
      variables: {},
      seccompFd,
      statusFd,
    }),
    seccomp,
  )
  if (run.code === 0) {
    const status: SandboxStatus = {
      _tag: "Available",
      kind: "bubblewrap",
      version: version.text.replace(/^bubblewrap\s+/, ""),
    }
    return status
  }
  return unavailable(run.text.split("\n", 1)[0] || `bubblewrap ended with code ${run.code}`)
})

const notFound = ({ message, refusals }: ProgramNotTrusted): string =>
  refusals.length === 0 ? "bubblewrap (bwrap) was not found" : `bubblewrap (bwrap): ${message}`

/** Never fails: what goes wrong is the reason. */
export const probe = Effect.fn("BubblewrapProbe.probe")(function* (
  programs: TrustedPrograms["Service"],
  seccomp: Uint8Array | undefined,
) {
  const found = yield* Effect.result(programs.resolve("bwrap"))
  const bwrap = Result.getSuccess(found)
  if (Result.isFailure(found)) return { status: unavailable(notFound(found.failure)), bwrap }
  if (seccomp === undefined) {
    const status = unavailable("there is no system call filter for this processor")
    return { status, bwrap }
  }
  // It runs in the sandbox, where a changed one does no harm.
  const nothing = yield* Effect.orElseSucceed(programs.resolve("true"), () => "/bin/true")
  const status = yield* tryIt(found.success, nothing, seccomp).pipe(
    Effect.timeoutOrElse({
      duration: probeLimit,
      orElse: () => Effect.succeed(unavailable(`bubblewrap did not end within ${probeLimit}`)),
    }),
    Effect.catch((error) =>
      Effect.succeed(unavailable(`bubblewrap could not be started: ${error.message}`)),
    ),
  )
  return { status, bwrap }
})
