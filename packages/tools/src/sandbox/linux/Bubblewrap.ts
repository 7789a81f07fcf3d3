/**
 * The sandbox of Linux: bubblewrap with a system call filter of this package. Probed when it is first needed and then
 * remembered, because looking for it must not delay the start of a server. Confines by the state of the file system at
 * that moment. Keeps L15: what cannot be confined as requested does not run. Keeps L8: everything in the sandbox dies
 * with bubblewrap, and bubblewrap with the server.
 *
 * Known limits: bubblewrap resolves its paths once more when it starts, so a command of another conversation that can
 * write to a directory above a writable root has a moment to replace it. With network access, the loopback listeners of
 * the host are reachable, those of this server among them, which is why they require a token.
 */
import { allowsNetwork, type ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import { sandboxMissing } from "../../policy/CommandPolicy.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type { CommandNotStarted, Launch } from "../../process/Command.ts"
import { Watchdog } from "../../process/Watchdog.ts"
import { TrustedPrograms } from "../../programs/TrustedPrograms.ts"
import type { ProtectedPath } from "../ProtectedPath.ts"
import { pathCalls } from "../NodeFiles.ts"
import * as PathFacts from "../PathFacts.ts"
import { CurrentView } from "../SymbolicLinks.ts"
import { boundRoots, bubblewrapOptions } from "./BubblewrapArgv.ts"
import { probe, seccompFd, statusFd } from "./BubblewrapProbe.ts"
import { findProtectedPaths } from "../FindProtectedPaths.ts"
import { landlockWords, launcherPrefix, setprivVariable } from "./Landlock.ts"
import { placeholder } from "../Placeholders.ts"
import { sandboxRefused } from "../SandboxRefusal.ts"
import { requireProgramsOutside, makeRootResolver, type SandboxSettings } from "../ResolvedRoots.ts"
import { Sandbox, type Unconfined } from "../Sandbox.ts"
import { seccompProgram } from "./Seccomp.ts"
import type { Processor } from "./Syscalls.ts"

/**
 * Variables that the loader and the C library of bubblewrap and setpriv would obey, possibly with files of the
 * workspace.
 */
const actsOnLoader = /^(?:LD_|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$|NLSPATH$|MALLOC_)/

/** Splits the environment into what bubblewrap may see and what only the command gets. */
const splitEnvironment = (env: Unconfined["env"]) => {
  const entries = Object.entries(env)
  return {
    outside: Object.fromEntries(entries.filter(([name]) => !actsOnLoader.test(name))),
    inside: Object.fromEntries(entries.filter(([name]) => actsOnLoader.test(name))),
  }
}

/** Descriptor from which bubblewrap reads its options; only the words of the program are on its command line. */
const optionsFd = 5

/** Creates placeholders for guarded paths that do not exist. */
const prepare = Effect.fnUntraced(function* (protectedPaths: ReadonlyArray<ProtectedPath>) {
  for (const protectedPath of protectedPaths)
    if (protectedPath.kind === "empty") yield* placeholder(protectedPath.path)
})

/** What bubblewrap starts: the command, preceded by the launcher where there is one. */
interface LastStep {
  readonly argv: Launch["argv"]
  /** Variables that bubblewrap sets. Empty behind a launcher, which would obey them: it is followed by `env` then. */
  readonly variables: Unconfined["env"]
  readonly launcher?: { readonly path: string } & NonNullable<Launch["launcher"]>
}

const lastStepOf = Effect.fnUntraced(function* (
  launcher: Option.Option<string>,
  roots: ReadonlyArray<string>,
  { argv }: Unconfined,
  variables: Unconfined["env"],
): Effect.fn.Return<LastStep, CommandNotStarted> {
  // With a root of `/` there is nothing outside of the writable roots.
  if (Option.isNone(launcher) || roots.includes("/")) return { argv, variables }
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  if (pairs.length > 0 && argv[0].includes("=")) {
    return yield* sandboxRefused(
      `${argv[0]} cannot be started with ${Object.keys(variables).join(", ")}`,
    )
  }
  return {
    argv: [
      ...landlockWords(boundRoots(roots)),
      ...(pairs.length === 0 ? [] : ["/usr/bin/env", ...pairs]),
      ...argv,
    ],
    variables: {},
    launcher: { path: launcher.value, prefix: launcherPrefix, program: argv[0] },
  }
})

/** The parts of the sandbox that are created once. */
interface Parts {
  readonly programs: TrustedPrograms["Service"]
  readonly hiddenPaths: SandboxSettings["hiddenPaths"]
  /** The filter of system calls; undefined for a processor without one. */
  readonly seccomp: Uint8Array | undefined
  readonly probed: Effect.Effect<Effect.Success<ReturnType<typeof probe>>>
  readonly rootsOf: Effect.Success<ReturnType<typeof makeRootResolver>>
  readonly facts: PathFacts.PathFacts
}

/** What is started once everything was found and checked. */
const launchOf = (parts: {
  readonly bwrap: string
  readonly seccomp: Uint8Array
  readonly options: ReadonlyArray<string>
  readonly step: LastStep
  readonly command: Unconfined
  readonly env: Unconfined["env"]
}): Launch => {
  const { command, options, step } = parts
  return {
    argv: [parts.bwrap, "--args", String(optionsFd), "--", ...step.argv],
    cwd: command.cwd,
    env: parts.env,
    inputs: new Map([
      [seccompFd, parts.seccomp],
      [optionsFd, new TextEncoder().encode(options.map((word) => `${word}\0`).join(""))],
    ]),
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    statusFd,
    ...(step.launcher === undefined ? {} : { launcher: step.launcher }),
    diesWithParent: true,
    // Bubblewrap reads its options before anything else: without them nothing runs in the sandbox. It reads the
    // filter last, before the sandbox has its own session, because the system accepts no empty filter (0.8.0).
    held: { outside: optionsFd, inside: seccompFd },
  }
}

const confine = Effect.fn("Bubblewrap.confine")(function* (
  { facts, hiddenPaths, probed, programs, rootsOf, seccomp }: Parts,
  command: Unconfined,
  policy: ConfiningPolicy,
  workspace: string,
) {
  const { bwrap, launcher, status } = yield* probed
  if (status._tag === "Unavailable") return yield* sandboxRefused(sandboxMissing(status))
  if (Option.isNone(bwrap) || seccomp === undefined) {
    return yield* Effect.die(new Error("a probe that succeeds has found bubblewrap and its filter"))
  }
  // A view for each command: the file system is looked at anew, without waiting wherever it is local.
  const view = yield* facts.view
  const roots = yield* Effect.provideService(rootsOf(policy, workspace), CurrentView, view)
  yield* requireProgramsOutside(programs, roots, [bwrap.value, ...Option.toArray(launcher)])
  const protectedPaths = yield* Effect.provideService(
    findProtectedPaths(roots, workspace, hiddenPaths),
    CurrentView,
    view,
  )
  yield* prepare(protectedPaths)
  const { inside, outside } = splitEnvironment(command.env)
  const step = yield* lastStepOf(launcher, roots, command, inside)
  const options = bubblewrapOptions({
    cwd: command.cwd,
    writableRoots: roots,
    protectedPaths,
    network: allowsNetwork(policy),
    variables: step.variables,
    ...(step.launcher === undefined ? {} : { launcher: step.launcher.path }),
    seccompFd,
    statusFd,
  })
  // A NUL character would end the option and start another one.
  if (options.some((word) => word.includes("\0"))) {
    return yield* sandboxRefused("a path or variable for the sandbox has a NUL character")
  }
  return launchOf({ bwrap: bwrap.value, seccomp, options, step, command, env: outside })
})

const make = Effect.fnUntraced(function* (settings: SandboxSettings, processor?: Processor) {
  const seccomp = processor === undefined ? undefined : seccompProgram(processor)
  // Not the whole context: its scope is that of the layer, and would retain resources of each command.
  const platform = Context.make(FileSystem.FileSystem, yield* FileSystem.FileSystem).pipe(
    Context.add(Path.Path, yield* Path.Path),
    Context.add(
      ChildProcessSpawner.ChildProcessSpawner,
      yield* ChildProcessSpawner.ChildProcessSpawner,
    ),
    Context.add(Watchdog, yield* Watchdog),
  )
  const rootsOf = yield* makeRootResolver(settings.environment["TMPDIR"])
  const programs = yield* TrustedPrograms
  const probed = Effect.provide(
    yield* Effect.cached(probe(programs, seccomp, settings.environment[setprivVariable] ?? "")),
    platform,
  )
  const facts = PathFacts.make(pathCalls)
  const { hiddenPaths } = settings
  const parts: Parts = { programs, hiddenPaths, seccomp, probed, rootsOf, facts }
  return Sandbox.of({
    status: Effect.map(probed, ({ status }) => status),
    confine: (command, policy, workspace) =>
      Effect.provide(confine(parts, command, policy, workspace), platform),
  })
})

/** The sandbox by bubblewrap. `processor` undefined: there is no filter for this processor, hence no sandbox. */
export const layerBubblewrap = (
  settings: SandboxSettings,
  processor: Processor | undefined,
): Layer.Layer<
  Sandbox,
  never,
  TrustedPrograms | FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner
> => Layer.provide(Layer.effect(Sandbox, make(settings, processor)), Watchdog.layer)
