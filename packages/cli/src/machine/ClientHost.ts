/** Files and commands of clients of app-server v2 on this machine. Loaded on first use by `LazyHost`. */
import { HostFailed } from "@colloquy/server/app/ports/HostPort"
import { CommandPort } from "@colloquy/server/thread/host/ports/CommandPort"
import { FileFailed, FilePort } from "@colloquy/server/thread/host/ports/FilePort"
import { run } from "@colloquy/tools/machine/ClientCommand"
import * as ClientFiles from "@colloquy/tools/machine/ClientFiles"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import type { StartTurns } from "@colloquy/tools/process/StartTurns"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import { Sandbox } from "@colloquy/tools/sandbox/Sandbox"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import * as NodePlatform from "./NodePlatform.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const failed = ({ message }: { readonly message: string }) => new FileFailed({ message })

/** The files of this machine. */
export const files = Layer.effect(
  FilePort,
  Effect.map(ClientFiles.make, (all) => ({
    read: (path) => Effect.mapError(all.read(path), failed),
    write: (path, bytes) => Effect.mapError(all.write(path, bytes), failed),
    describe: (path) => Effect.mapError(all.describe(path), failed),
    list: (path) => Effect.mapError(all.list(path), failed),
    createDirectory: (path, options) => Effect.mapError(all.createDirectory(path, options), failed),
    copy: (from, to, options) => Effect.mapError(all.copy(from, to, options), failed),
    remove: (path, options) => Effect.mapError(all.remove(path, options), failed),
    watch: (path) =>
      Effect.mapBoth(all.watch(path), {
        onFailure: failed,
        onSuccess: (watch) => ({ ...watch, changes: Stream.mapError(watch.changes, failed) }),
      }),
  })),
).pipe(Layer.provide(NodePlatform.layer))

/** The Python that opens terminals. */
const pythonOf = ({ resolve }: TrustedPrograms["Service"]) =>
  Effect.mapError(
    resolve("python3"),
    ({ message }) =>
      new HostFailed({
        message: `a terminal needs Python 3, which cannot be used: ${message}`,
        reason: "TerminalUnavailable",
      }),
  )

/** The port over the services that it needs. */
const commandPort = (options: ToolsOptions) =>
  Effect.gen(function* () {
    const programs = yield* TrustedPrograms
    const parts = {
      runner: yield* CommandRunner,
      sandbox: yield* Sandbox,
      environment: options.environment,
      secretNames: options.secretNames,
    }
    return CommandPort.of({
      run: ({ terminal, ...command }) =>
        programs.remember(command.settings.sandboxPolicy, command.settings.cwd).pipe(
          Effect.andThen(terminal === undefined ? Effect.undefined : pythonOf(programs)),
          Effect.flatMap((python) =>
            Effect.mapError(
              run(parts, {
                ...command,
                ...(terminal === undefined || python === undefined
                  ? {}
                  : { terminal: { ...terminal, python } }),
              }),
              ({ message, reason }) =>
                new HostFailed({ message, ...(reason === undefined ? {} : { reason }) }),
            ),
          ),
        ),
    })
  })

/** Commands get the part of the server's environment that the settings allow, and cannot read `hiddenPaths`. */
export const commands = (
  options: ToolsOptions,
): Layer.Layer<never, never, StartTurns | TrustedPrograms> =>
  Layer.effect(CommandPort, commandPort(options)).pipe(
    Layer.provide([
      CommandRunner.layer,
      SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        ...options,
      }),
    ]),
    Layer.provide(NodePlatform.layer),
  )
