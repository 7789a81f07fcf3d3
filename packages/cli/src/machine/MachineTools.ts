/** The tools on this machine: processes and files, the sandbox, tool servers over stdio and HTTP. Loaded on first use by `LazyTools`. */
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import type { StartTurns } from "@colloquy/tools/process/StartTurns"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import type { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as Tools from "@colloquy/tools/Tools"
import { ToolServers } from "@colloquy/tools/mcp/ToolServers"
import * as NodePlatform from "./NodePlatform.ts"
import * as Layer from "effect/Layer"

/** Provides the tools. */
export const layer = (
  options: Tools.ToolsOptions,
): Layer.Layer<ToolRuntime, never, StartTurns | TrustedPrograms> =>
  Tools.layer(options).pipe(
    Layer.provide([
      CommandRunner.layer,
      ToolServers.layer(),
      SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        ...options,
      }),
    ]),
    Layer.provide(NodePlatform.layer),
  )
