/**
 * The sandbox of macOS: the profile of `@anthropic-ai/sandbox-runtime`, without its `initialize()` (no proxies, hence
 * no network unless the policy allows it). NOT TESTED on macOS. The library is loaded when it is first needed, on that
 * system only. Keeps L15. It does not keep L8 by itself: nothing in it dies with the server, which the command runner
 * arranges.
 */
import { allowsNetwork, type ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import { sandboxMissing } from "../../policy/CommandPolicy.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type { Launch } from "../../process/Command.ts"
import { TrustedPrograms } from "../../programs/TrustedPrograms.ts"
import { findProtectedPaths } from "../FindProtectedPaths.ts"
import { withSystemPath } from "../NodeFiles.ts"
import { sandboxRefused } from "../SandboxRefusal.ts"
import { requireProgramsOutside, makeRootResolver, type SandboxSettings } from "../ResolvedRoots.ts"
import { Sandbox, type SandboxStatus, type Unconfined } from "../Sandbox.ts"
import { launchArgv, seatbeltRules, shellLine, splitForShell } from "./SeatbeltArgv.ts"

const library = Effect.tryPromise({
  try: () => import("@anthropic-ai/sandbox-runtime/dist/sandbox/macos-sandbox-utils.js"),
  catch: () =>
    sandboxRefused("the sandbox library (@anthropic-ai/sandbox-runtime) could not be loaded"),
})

const sandboxExec = "/usr/bin/sandbox-exec"

const probe = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const isThere = yield* Effect.orElseSucceed(fs.exists(sandboxExec), () => false)
  const loaded = yield* Effect.option(library)
  const status: SandboxStatus =
    isThere && loaded._tag === "Some"
      ? {
          _tag: "Available",
          kind: "seatbelt",
          version: "0.0.83",
          namedPipes: { _tag: "Closed", by: "Seatbelt" },
        }
      : {
          _tag: "Unavailable",
          reason: isThere
            ? "the sandbox library (@anthropic-ai/sandbox-runtime) could not be loaded"
            : `${sandboxExec} is missing`,
          advice: isThere ? "reinstall colloquy" : "it is a part of macOS",
        }
  return status
})

/** The parts of the sandbox that are created once. */
interface Parts {
  readonly programs: TrustedPrograms["Service"]
  readonly hiddenPaths: SandboxSettings["hiddenPaths"]
  readonly probed: Effect.Effect<SandboxStatus>
  readonly rootsOf: Effect.Success<ReturnType<typeof makeRootResolver>>
}

const confine = Effect.fn("Seatbelt.confine")(function* (
  { hiddenPaths, probed, programs, rootsOf }: Parts,
  command: Unconfined,
  policy: ConfiningPolicy,
  workspace: string,
) {
  const status = yield* probed
  if (status._tag === "Unavailable") return yield* sandboxRefused(sandboxMissing(status))
  const { wrapCommandWithSandboxMacOS } = yield* library
  const roots = yield* rootsOf(policy, workspace)
  yield* requireProgramsOutside(programs, roots, [sandboxExec])
  const protectedPaths = yield* findProtectedPaths(roots, workspace, hiddenPaths)
  const network = allowsNetwork(policy)
  const { inside, outside } = splitForShell(command.env)
  const line = yield* Effect.try({
    try: () =>
      // The library starts `which` by its name.
      withSystemPath(() =>
        wrapCommandWithSandboxMacOS({
          command: shellLine(command.argv, inside, command.env["TMPDIR"]),
          commandId: "colloquy",
          binShell: "/bin/bash",
          ...seatbeltRules(roots, protectedPaths, network),
        }),
      ),
    catch: (error) => sandboxRefused(`the sandbox could not be set up: ${String(error)}`),
  })
  const argv = launchArgv(line)
  if (argv === undefined)
    return yield* sandboxRefused("the sandbox library gave an unknown command")
  const launch: Launch = {
    argv,
    cwd: command.cwd,
    env: outside,
    inputs: new Map(),
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    diesWithParent: false,
  }
  return launch
})

const make = Effect.fnUntraced(function* (settings: SandboxSettings) {
  const platform = Context.make(FileSystem.FileSystem, yield* FileSystem.FileSystem).pipe(
    Context.add(Path.Path, yield* Path.Path),
  )
  const rootsOf = yield* makeRootResolver(settings.environment["TMPDIR"])
  const programs = yield* TrustedPrograms
  const probed = Effect.provide(yield* Effect.cached(probe), platform)
  const parts: Parts = { programs, hiddenPaths: settings.hiddenPaths, probed, rootsOf }
  return Sandbox.of({
    status: probed,
    confine: (command, policy, workspace) =>
      Effect.provide(confine(parts, command, policy, workspace), platform),
  })
})

/** The sandbox of macOS. */
export const layerSeatbelt = (
  settings: SandboxSettings,
): Layer.Layer<Sandbox, never, TrustedPrograms | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(Sandbox, make(settings))
