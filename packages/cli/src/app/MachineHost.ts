/** What clients of the app-server ask of this machine: commands, git, files. Loaded with the first that asks. */
import { HostFailed, HostPort } from "@colloquy/server/app/HostPort"
import { CommandRunner } from "@colloquy/tools/CommandRunner"
import { searchFiles } from "@colloquy/tools/FileSearch"
import { gitDiffToRemote } from "@colloquy/tools/GitToRemote"
import { type OneOffFailed, run } from "@colloquy/tools/OneOff"
import { Sandbox } from "@colloquy/tools/Sandbox"
import * as SandboxLayer from "@colloquy/tools/SandboxLayer"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { rgPath } from "@vscode/ripgrep"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const failed = ({ message, reason }: OneOffFailed) =>
  new HostFailed({ message, ...(reason === undefined ? {} : { reason }) })

/** Commands get of the server's environment what the settings say; `hiddenPaths` stay hidden from them. */
export const layer = (options: ToolsOptions): Layer.Layer<HostPort> =>
  Layer.effect(
    HostPort,
    Effect.gen(function* () {
      const parts = {
        runner: yield* CommandRunner,
        sandbox: yield* Sandbox,
        environment: options.environment,
        secretNames: options.secretNames,
        ripgrep: rgPath,
        hiddenPaths: options.hiddenPaths,
      }
      return HostPort.of({
        gitDiffToRemote: (settings) => Effect.mapError(gitDiffToRemote(parts, settings), failed),
        searchFiles: (query) => searchFiles(parts, query),
        runCommand: (command) => Effect.mapError(run(parts, command), failed),
      })
    }),
  ).pipe(
    Layer.provide([
      CommandRunner.layer,
      SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        ...options,
      }),
    ]),
    Layer.provide(NodeServices.layer),
  )
