/**
 * Finds bubblewrap and tries it with the flags that commands run with, so that the answer to "does it work here" is
 * the machine's own. Never looks into a directory that commands may write to by relative names. Part of L15.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { bubblewrapArgv } from "./BubblewrapArgv.ts"
import { adviceFor } from "./BubblewrapFailure.ts"
import type { SandboxStatus } from "./Sandbox.ts"

const probeLimit = "5 seconds"

/** Where systems put it; before the PATH, which a person may have pointed anywhere. */
const usualDirectories = ["/usr/bin", "/bin", "/usr/local/bin"]

export const seccompFd = 3
export const statusFd = 4

/** The first that is there and is a program, links resolved; entries of `path` that are not absolute are left out. */
export const findProgram = Effect.fnUntraced(function* (name: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const directories = [...usualDirectories, ...path.split(":")].filter((at) => at.startsWith("/"))
  for (const directory of new Set(directories)) {
    const found = yield* Effect.option(
      Effect.gen(function* () {
        const real = yield* fs.realPath(`${directory}/${name}`)
        const info = yield* fs.stat(real)
        return info.type === "File" && (info.mode & 0o111) !== 0 ? real : undefined
      }),
    )
    if (Option.isSome(found) && found.value !== undefined) return Option.some(found.value)
  }
  return Option.none<string>()
})

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

const tryIt = Effect.fnUntraced(function* (bwrap: string, path: string, seccomp: Uint8Array) {
  const nothing = yield* findProgram("true", path)
  const version = yield* outputOf([bwrap, "--version"])
  const run = yield* outputOf(
    bubblewrapArgv({
      bwrap,
      argv: [Option.getOrElse(nothing, () => "/bin/true")],
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

/** Never fails: what goes wrong is the reason. `path` is the PATH of the server. */
export const probe = Effect.fn("BubblewrapProbe.probe")(function* (
  path: string,
  seccomp: Uint8Array | undefined,
) {
  const bwrap = yield* findProgram("bwrap", path)
  if (Option.isNone(bwrap)) {
    return { status: unavailable("bubblewrap (bwrap) was not found"), bwrap }
  }
  if (seccomp === undefined) {
    const status = unavailable("there is no system call filter for this processor")
    return { status, bwrap }
  }
  const status = yield* tryIt(bwrap.value, path, seccomp).pipe(
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
