/**
 * The sandbox of Linux: bubblewrap with our own system call filter. Probed on first need and then remembered: looking
 * for it must not delay a server's start. Confines by what the file system is at that moment. Keeps L15: whatever can't
 * be confined as asked does not run; and L8: all that runs in it dies with bubblewrap, and that with the server.
 *
 * Known limits: bubblewrap resolves the paths it is given once more when it starts, so a command of another
 * conversation that can write to a directory above a writable root has a moment to swap it; and with network access
 * the listeners of the host's loopback are reachable, ours among them, which therefore wants a token.
 */
import { sandboxMissing } from "../policy/CommandPolicy.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type { CommandNotStarted, Launch } from "../process/Command.ts"
import { Reaper } from "../process/Reaper.ts"
import { TrustedPrograms } from "../process/TrustedPrograms.ts"
import { boundRoots, bubblewrapOptions, type Guard } from "./BubblewrapArgv.ts"
import { probe, seccompFd, statusFd } from "./BubblewrapProbe.ts"
import { guardsFor } from "./Guards.ts"
import { landlockWords, launcherPrefix, setprivVariable } from "./Landlock.ts"
import { placeholder } from "./Placeholders.ts"
import { refused } from "./Refusal.ts"
import { refuseProgramIn, rememberingRoots, type SandboxSettings } from "./Roots.ts"
import { type ConfiningPolicy, Sandbox, type Unconfined } from "./Sandbox.ts"
import { seccompProgram } from "./Seccomp.ts"
import type { Processor } from "./Syscalls.ts"

/** What the loader and the C library of bubblewrap and setpriv themselves would follow, into the workspace perhaps. */
const actsOnLoader = /^(?:LD_|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$|NLSPATH$|MALLOC_)/

const splitEnvironment = (env: Unconfined["env"]) => {
  const entries = Object.entries(env)
  return {
    outside: Object.fromEntries(entries.filter(([name]) => !actsOnLoader.test(name))),
    inside: Object.fromEntries(entries.filter(([name]) => actsOnLoader.test(name))),
  }
}

/** Where bubblewrap reads its options; the words of the program stand on its command line. */
const optionsFd = 5

/** Stands in for what is missing; what others stand in for is missing too. */
const prepare = Effect.fnUntraced(function* (guards: ReadonlyArray<Guard>) {
  for (const guard of guards) if (guard.kind === "empty") yield* placeholder(guard.path)
})

/** What bubblewrap starts: the command, behind the launcher where there is one. */
interface LastStep {
  readonly argv: Launch["argv"]
  /** Set by bubblewrap: what acts on the loader reaches the launcher too, hence is set behind it. */
  readonly variables: Unconfined["env"]
  readonly launcher?: { readonly path: string } & NonNullable<Launch["launcher"]>
}

const lastStepOf = Effect.fnUntraced(function* (
  launcher: Option.Option<string>,
  roots: ReadonlyArray<string>,
  { argv }: Unconfined,
  variables: Unconfined["env"],
): Effect.fn.Return<LastStep, CommandNotStarted> {
  // With a root of `/` there is nothing outside.
  if (Option.isNone(launcher) || roots.includes("/")) return { argv, variables }
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  if (pairs.length > 0 && argv[0].includes("=")) {
    return yield* refused(`${argv[0]} cannot be started with ${Object.keys(variables).join(", ")}`)
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

const make = Effect.fnUntraced(function* (settings: SandboxSettings, processor?: Processor) {
  const seccomp = processor === undefined ? undefined : seccompProgram(processor)
  // Not the whole context: its scope is the layer's, and would keep what belongs to a command's.
  const platform = Context.make(FileSystem.FileSystem, yield* FileSystem.FileSystem).pipe(
    Context.add(Path.Path, yield* Path.Path),
    Context.add(
      ChildProcessSpawner.ChildProcessSpawner,
      yield* ChildProcessSpawner.ChildProcessSpawner,
    ),
    Context.add(Reaper, yield* Reaper),
  )
  const rootsOf = yield* rememberingRoots(settings.environment["TMPDIR"])
  const programs = yield* TrustedPrograms
  const probed = yield* Effect.cached(
    probe(programs, seccomp, settings.environment[setprivVariable] ?? ""),
  )

  const confine = Effect.fn("Bubblewrap.confine")(function* (
    command: Unconfined,
    policy: ConfiningPolicy,
    workspace: string,
  ) {
    const { bwrap, launcher, status } = yield* probed
    if (status._tag === "Unavailable") return yield* refused(sandboxMissing(status))
    if (Option.isNone(bwrap) || seccomp === undefined) {
      return yield* Effect.die(
        new Error("a probe that succeeds has found bubblewrap and its filter"),
      )
    }
    const roots = yield* rootsOf(policy, workspace)
    yield* refuseProgramIn(programs, roots, [bwrap.value, ...Option.toArray(launcher)])
    const guards = yield* guardsFor(roots, workspace, settings.hiddenPaths)
    yield* prepare(guards)
    const { inside, outside } = splitEnvironment(command.env)
    const step = yield* lastStepOf(launcher, roots, command, inside)
    const options = bubblewrapOptions({
      cwd: command.cwd,
      writableRoots: roots,
      guards,
      network: policy.mode === "workspace-write" && policy.network_access === true,
      variables: step.variables,
      ...(step.launcher === undefined ? {} : { launcher: step.launcher.path }),
      seccompFd,
      statusFd,
    })
    // It would end an option, and begin one of somebody else's.
    if (options.some((word) => word.includes("\0"))) {
      return yield* refused("a path or variable for the sandbox has a NUL character")
    }
    const launch: Launch = {
      argv: [bwrap.value, "--args", String(optionsFd), "--", ...step.argv],
      cwd: command.cwd,
      env: outside,
      inputs: new Map([
        [seccompFd, seccomp],
        [optionsFd, new TextEncoder().encode(options.map((word) => `${word}\0`).join(""))],
      ]),
      ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
      statusFd,
      ...(step.launcher === undefined ? {} : { launcher: step.launcher }),
      diesWithParent: true,
      // The options are read before anything else: without them there is nothing in the sandbox, not even a program. The
      // filter is read last, before the sandbox has a session of its own: the system takes no empty one (0.8.0).
      held: { outside: optionsFd, inside: seccompFd },
    }
    return launch
  })

  return Sandbox.of({
    status: Effect.provide(
      Effect.map(probed, ({ status }) => status),
      platform,
    ),
    confine: (command, policy, workspace) =>
      Effect.provide(confine(command, policy, workspace), platform),
  })
})

/** `processor` undefined: one there is no filter for, hence no sandbox. */
export const layerBubblewrap = (
  settings: SandboxSettings,
  processor: Processor | undefined,
): Layer.Layer<
  Sandbox,
  never,
  TrustedPrograms | FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner
> => Layer.provide(Layer.effect(Sandbox, make(settings, processor)), Reaper.layer)
