/** Runs the app-server's requests for commands, git diffs and file searches on this machine. Loaded on first use by `LazyPorts`. */
import { HostFailed, HostPort } from "@colloquy/server/app/ports/HostPort"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import type { StartTurns } from "@colloquy/tools/process/StartTurns"
import { searchFiles } from "@colloquy/tools/machine/FileSearch"
import { gitDiffToRemote } from "@colloquy/tools/machine/GitToRemote"
import { type OneOffFailed, run } from "@colloquy/tools/machine/OneOffCommand"
import { Sandbox } from "@colloquy/tools/sandbox/Sandbox"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodePlatform from "./NodePlatform.ts"
import { rgPath } from "@vscode/ripgrep"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"

const failed = ({ message, reason }: Pick<OneOffFailed, "message" | "reason">) =>
  new HostFailed({ message, ...(reason === undefined ? {} : { reason }) })

/** The port over the services that it needs. */
const port = (options: ToolsOptions) =>
  Layer.effect(
    HostPort,
    Effect.gen(function* () {
      const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const programs = yield* TrustedPrograms
      const [hidden] = options.hiddenPaths
      const parts = {
        programs,
        runner: yield* CommandRunner,
        sandbox: yield* Sandbox,
        environment: options.environment,
        secretNames: options.secretNames,
        ripgrep: rgPath,
        hiddenPaths: options.hiddenPaths,
      }
      return HostPort.of({
        gitDiffToRemote: ({ cwd, sandboxPolicy }) =>
          hidden === undefined
            ? Effect.fail(new HostFailed({ message: "there is no state directory" }))
            : programs
                .remember(sandboxPolicy, cwd)
                .pipe(
                  Effect.andThen(gitDiffToRemote({ ...parts, hidden }, cwd)),
                  Effect.provide(platform),
                  Effect.mapError(failed),
                ),
        searchFiles: (query) => Effect.mapError(searchFiles(parts, query), failed),
        runCommand: (command) =>
          programs
            .remember(command.settings.sandboxPolicy, command.settings.cwd)
            .pipe(Effect.andThen(run(parts, command)), Effect.mapError(failed)),
      })
    }),
  )

/** Commands get the part of the server's environment that the settings allow, and cannot read `hiddenPaths`. */
export const layer = (
  options: ToolsOptions,
): Layer.Layer<HostPort, never, StartTurns | TrustedPrograms> =>
  port(options).pipe(
    Layer.provide([
      CommandRunner.layer,
      SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        ...options,
      }),
    ]),
    Layer.provide(NodePlatform.layer),
  )
