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
import { bubblewrapArgv, type Confinement } from "./BubblewrapArgv.ts"
import { adviceFor } from "./BubblewrapFailure.ts"
import { namedPipesOf, probeWords, setprivMissing, setprivVariable } from "./Landlock.ts"
import type { SandboxStatus } from "./Sandbox.ts"

const probeLimit = "5 seconds"

/** Where systems put it; before the PATH, which a person may have pointed anywhere. */
const usualDirectories = ["/usr/bin", "/bin", "/usr/local/bin"]

type Variables = Readonly<Record<string, string | undefined>>

export const seccompFd = 3
export const statusFd = 4

/** The program at a path, links resolved; none where there is no file that can be executed. */
const programAt = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const real = yield* fs.realPath(path)
    const info = yield* fs.stat(real)
    return info.type === "File" && (info.mode & 0o111) !== 0 ? Option.some(real) : Option.none()
  },
  Effect.orElseSucceed(Option.none<string>),
)

/** The first that is there and is a program, links resolved; entries of `path` that are not absolute are left out. */
export const findProgram = Effect.fnUntraced(function* (name: string, path: string) {
  const directories = [...usualDirectories, ...path.split(":")].filter((at) => at.startsWith("/"))
  for (const directory of new Set(directories)) {
    const found = yield* programAt(`${directory}/${name}`)
    if (Option.isSome(found)) return found
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

interface Found {
  readonly bwrap: string
  readonly seccomp: Uint8Array
}

/** Runs words in a sandbox without writable roots. */
const runIn = (
  { bwrap, seccomp }: Found,
  argv: ReadonlyArray<string>,
  launcher: Pick<Confinement, "launcher"> = {},
) =>
  outputOf(
    bubblewrapArgv({
      ...launcher,
      bwrap,
      argv,
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

const tryLandlock = Effect.fnUntraced(function* (found: Found, environment: Variables) {
  const path = environment["PATH"] ?? ""
  const named = environment[setprivVariable] ?? ""
  const setpriv = yield* named === "" ? findProgram("setpriv", path) : programAt(named)
  if (Option.isNone(setpriv)) {
    return { namedPipes: setprivMissing(named || "setpriv"), launcher: setpriv }
  }
  const { code, text } = yield* runIn(found, probeWords, { launcher: setpriv.value })
  const namedPipes = namedPipesOf(setpriv.value, code, text)
  return {
    namedPipes,
    launcher: namedPipes._tag === "Closed" ? setpriv : Option.none<string>(),
  }
})

interface Tried {
  readonly status: SandboxStatus
  /** The setpriv that gives itself the rules of Landlock; none where that does not work. */
  readonly launcher: Option.Option<string>
}

const without = (reason: string): Tried => ({
  status: unavailable(reason),
  launcher: Option.none(),
})

const tryIt = Effect.fnUntraced(function* (found: Found, environment: Variables) {
  const nothing = yield* findProgram("true", environment["PATH"] ?? "")
  const [version, run, { launcher, namedPipes }] = yield* Effect.all(
    [
      outputOf([found.bwrap, "--version"]),
      runIn(found, [Option.getOrElse(nothing, () => "/bin/true")]),
      tryLandlock(found, environment),
    ],
    { concurrency: "unbounded" },
  )
  if (run.code !== 0) {
    return without(run.text.split("\n", 1)[0] || `bubblewrap ended with code ${run.code}`)
  }
  const status: SandboxStatus = {
    _tag: "Available",
    kind: "bubblewrap",
    version: version.text.replace(/^bubblewrap\s+/, ""),
    namedPipes,
  }
  return { status, launcher } satisfies Tried
})

/** Never fails: what goes wrong is the reason. `environment` is the server's. */
export const probe = Effect.fn("BubblewrapProbe.probe")(function* (
  environment: Variables,
  seccomp: Uint8Array | undefined,
) {
  const bwrap = yield* findProgram("bwrap", environment["PATH"] ?? "")
  if (Option.isNone(bwrap)) return { ...without("bubblewrap (bwrap) was not found"), bwrap }
  if (seccomp === undefined) {
    return { ...without("there is no system call filter for this processor"), bwrap }
  }
  const tried = yield* tryIt({ bwrap: bwrap.value, seccomp }, environment).pipe(
    Effect.timeoutOrElse({
      duration: probeLimit,
      orElse: () => Effect.succeed(without(`bubblewrap did not end within ${probeLimit}`)),
    }),
    Effect.catch((error) =>
      Effect.succeed(without(`bubblewrap could not be started: ${error.message}`)),
    ),
  )
  return { ...tried, bwrap }
})
