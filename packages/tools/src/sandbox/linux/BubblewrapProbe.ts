/**
 * Finds bubblewrap and tries it with the flags that commands run with, so that the status is what this machine really
 * supports. Part of L15.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ProgramNotTrusted, TrustedPrograms } from "../../programs/TrustedPrograms.ts"
import { bubblewrapArgv, type BubblewrapOptions } from "./BubblewrapArgv.ts"
import { adviceFor } from "./BubblewrapFailure.ts"
import { namedPipesOf, probeWords, setprivMissing, setprivVariable } from "./Landlock.ts"
import type { SandboxStatus } from "../Sandbox.ts"

/** Longest time of one probe. */
const probeLimit = "5 seconds"

/** Descriptor from which bubblewrap reads the system call filter. */
export const seccompFd = 3
/** Descriptor to which bubblewrap writes its status. */
export const statusFd = 4

const decode = <R>(stream: Stream.Stream<Uint8Array, PlatformError.PlatformError, R>) =>
  stream.pipe(Stream.decodeText(), Stream.mkString)

/** Joined output and exit code of a short run without environment. */
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

/** Runs the words in a sandbox without writable roots. */
const runIn = (
  { bwrap, seccomp }: Found,
  argv: ReadonlyArray<string>,
  launcher: Pick<BubblewrapOptions, "launcher"> = {},
) =>
  outputOf(
    bubblewrapArgv({
      ...launcher,
      bwrap,
      argv,
      cwd: "/",
      writableRoots: [],
      protectedPaths: [],
      network: false,
      variables: {},
      seccompFd,
      statusFd,
    }),
    seccomp,
  )

type Programs = TrustedPrograms["Service"]

/** The setpriv that the variable names, at that absolute path alone; otherwise that of the system or of PATH. */
const setprivOf = (programs: Programs, named: string) =>
  named === "" ? programs.resolve("setpriv") : programs.resolve(named, named)

const tryLandlock = Effect.fnUntraced(function* (programs: Programs, found: Found, named: string) {
  // A relative path would lead into the working directory of the server, which is a workspace.
  if (named !== "" && !named.startsWith("/")) {
    const namedPipes = setprivMissing(`${setprivVariable} is not an absolute path: ${named}`)
    return { namedPipes, launcher: Option.none<string>() }
  }
  const setpriv = yield* Effect.result(setprivOf(programs, named))
  if (Result.isFailure(setpriv)) {
    const namedPipes = setprivMissing(setpriv.failure.message)
    return { namedPipes, launcher: Option.none<string>() }
  }
  const { code, text } = yield* runIn(found, probeWords, { launcher: setpriv.success })
  const namedPipes = namedPipesOf(setpriv.success, code, text)
  const launcher = namedPipes._tag === "Closed" ? Option.some(setpriv.success) : Option.none()
  return { namedPipes, launcher }
})

interface Tried {
  readonly status: SandboxStatus
  /** The setpriv that applies Landlock rules to itself; none where that does not work. */
  readonly launcher: Option.Option<string>
}

const without = (reason: string): Tried => ({
  status: unavailable(reason),
  launcher: Option.none(),
})

const tryIt = Effect.fnUntraced(function* (programs: Programs, found: Found, setpriv: string) {
  // It runs in the sandbox, where a modified program does no harm.
  const nothing = yield* Effect.orElseSucceed(programs.resolve("true"), () => "/bin/true")
  const [version, run, { launcher, namedPipes }] = yield* Effect.all(
    [
      outputOf([found.bwrap, "--version"]),
      runIn(found, [nothing]),
      tryLandlock(programs, found, setpriv),
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

/** For the model, and for a person who is asked: names the candidates, not every directory that was searched. */
const notFound = ({ refusals }: ProgramNotTrusted): string => {
  const candidates = refusals.filter(({ path }) => path.endsWith("/bwrap"))
  return candidates.length === 0
    ? "bubblewrap (bwrap) was not found"
    : `bubblewrap (bwrap) cannot be used: ${candidates.map(({ path, reason }) => `${path}: ${reason}`).join("; ")}`
}

/**
 * Probes the sandbox. Never fails: an error becomes the reason. `setpriv` is the path to use; empty: any that is found.
 */
export const probe = Effect.fn("BubblewrapProbe.probe")(function* (
  programs: TrustedPrograms["Service"],
  seccomp: Uint8Array | undefined,
  setpriv: string,
) {
  const found = yield* Effect.result(programs.resolve("bwrap"))
  const bwrap = Result.getSuccess(found)
  if (Result.isFailure(found)) return { ...without(notFound(found.failure)), bwrap }
  if (seccomp === undefined) {
    return { ...without("there is no system call filter for this processor"), bwrap }
  }
  const tried = yield* tryIt(programs, { bwrap: found.success, seccomp }, setpriv).pipe(
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
