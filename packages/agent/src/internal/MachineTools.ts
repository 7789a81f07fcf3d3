/** The tools of this machine on Node: the adapter to its processes and files. Loaded with the first chat of an agent. */
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { ToolServers } from "@colloquy/tools/mcp/ToolServers"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import { StartTurns } from "@colloquy/tools/process/StartTurns"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as ProjectDocs from "@colloquy/tools/project/ProjectDocs"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import * as Tools from "@colloquy/tools/Tools"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"

const isSecret = (name: string): boolean => /_(?:KEY|TOKEN|SECRET)$/i.test(name)

/** What the agent says of the machine. */
export interface MachineFacts {
  readonly hiddenPaths: ReadonlyArray<string>
  /** Undefined: the variables whose names say so. */
  readonly secretNames: ReadonlyArray<string> | undefined
}

/**
 * Shared by all agents of the process: a program is trusted only outside of every directory that the commands of any of
 * them can write to, and the starts of all of them have one bound.
 */
const shared = Effect.runSync(
  Effect.cached(
    TrustedPrograms.make({ environment: process.env }).pipe(
      Effect.provide(NodeServices.layer),
      Effect.map((programs) =>
        Context.make(TrustedPrograms, programs).pipe(
          Context.add(StartTurns, StartTurns.makeUnsafe()),
        ),
      ),
    ),
  ),
)

/** Provides the tools. */
export const layer = ({ hiddenPaths, secretNames }: MachineFacts): Layer.Layer<ToolRuntime> => {
  const options = {
    environment: process.env,
    node: process.execPath,
    secretNames: secretNames ?? Object.keys(process.env).filter(isSecret),
    hiddenPaths,
  }
  return Tools.layer(options).pipe(
    Layer.provide([
      CommandRunner.layer,
      ToolServers.layer(),
      SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        ...options,
      }),
    ]),
    // A cached effect starts anew when its only caller is interrupted.
    Layer.provide(Layer.effectContext(Effect.uninterruptible(shared))),
    Layer.provide([NodeServices.layer, FetchHttpClient.layer]),
  )
}

/** Reads the AGENTS.md files of the project as they are now, except those that lead to hidden paths. */
export const readDocs = (
  options: Pick<MachineFacts, "hiddenPaths"> & { readonly cwd: string },
): Effect.Effect<string | undefined> =>
  Effect.provide(ProjectDocs.read(options), NodeServices.layer)
