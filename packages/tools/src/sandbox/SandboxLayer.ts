/** Selects the sandbox of this machine. Where there is none, the status says so, and nothing is confined (L15). */
import { sandboxMissing } from "../policy/CommandPolicy.ts"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import { layerBubblewrap } from "./linux/Bubblewrap.ts"
import { sandboxRefused } from "./SandboxRefusal.ts"
import type { SandboxSettings } from "./ResolvedRoots.ts"
import { Sandbox, type SandboxStatus } from "./Sandbox.ts"
import { layerSeatbelt } from "./macos/Seatbelt.ts"

/** The machine in the terms of Node: `linux`, `x64`. */
export interface Machine {
  readonly platform: string
  readonly processor: string
}

const layerNone = (platform: string): Layer.Layer<Sandbox> => {
  const status: Extract<SandboxStatus, { readonly _tag: "Unavailable" }> = {
    _tag: "Unavailable",
    reason: `there is no sandbox for ${platform}`,
    advice:
      'run colloquy on Linux or macOS, or in a container with sandbox_mode = "external-sandbox"',
  }
  return Layer.succeed(
    Sandbox,
    Sandbox.of({
      status: Effect.succeed(status),
      confine: () => Effect.fail(sandboxRefused(sandboxMissing(status))),
    }),
  )
}

/** What the sandbox of a machine depends on. */
export interface SandboxOptions extends SandboxSettings {
  readonly machine: Machine
}

/** The sandbox of this machine. It is probed when it is first needed. */
export const layer = ({
  machine: { platform, processor },
  ...settings
}: SandboxOptions): Layer.Layer<
  Sandbox,
  never,
  TrustedPrograms | FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner
> => {
  if (platform === "darwin") return layerSeatbelt(settings)
  if (platform !== "linux") return layerNone(platform)
  const known = processor === "x64" || processor === "arm64" ? processor : undefined
  return layerBubblewrap(settings, known)
}
