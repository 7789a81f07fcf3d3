/**
 * The tools of this machine for an agent: commands in a sandbox, patches, plans and images. An agent has them only where
 * it is made with `machine`; nothing of them is loaded otherwise.
 */
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Question } from "./Approval.ts"
import { checkKeys, checkOption } from "./internal/KnownKeys.ts"

/** What the tools of the machine may do. */
export interface MachineOptions {
  /** Absolute path of the directory that the agent works in. */
  readonly cwd: string
  /**
   * What commands may change: nothing; the directory and temporary files (the default); or everything that the user of
   * this process may. Where the machine cannot confine commands, each of them asks.
   */
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access"
  /** True: commands in `workspace-write` may use the network. Default false. */
  readonly network?: boolean
  /** When `onApproval` is asked; see the page on tools and approvals. Default `on-request`. */
  readonly approvalPolicy?: AskForApproval
  /** Names of environment variables that no command sees. Default: those that end in `_KEY`, `_TOKEN` or `_SECRET`. */
  readonly secretNames?: ReadonlyArray<string>
  /** Absolute paths that no tool reads and no confined command writes, such as the folder of the store. Default: none. */
  readonly hiddenPaths?: ReadonlyArray<string>
}

const machineKeys: ReadonlyArray<keyof MachineOptions> = [
  "cwd",
  "sandbox",
  "network",
  "approvalPolicy",
  "secretNames",
  "hiddenPaths",
]

/** Questions of the machine's tools: may this command run, may these files be changed? */
export type MachineQuestion =
  | Question<"shell", { readonly command: ReadonlyArray<string>; readonly cwd: string }>
  | Question<"apply_patch", { readonly changes: Readonly<Record<string, FileChange>> }>

/** The tools of this machine, as an agent gets them. */
export interface Machine {
  readonly "~colloquy/agent/Machine": {
    readonly cwd: string
    readonly sandboxPolicy: SandboxPolicy
    readonly approvalPolicy: AskForApproval
    readonly layer: Layer.Layer<ToolRuntime>
  }
}

const policyOf = ({ network, sandbox = "workspace-write" }: MachineOptions): SandboxPolicy =>
  sandbox === "workspace-write"
    ? { mode: sandbox, ...(network === undefined ? {} : { network_access: network }) }
    : { mode: sandbox }

/** Gives an agent the tools of this machine. Throws `UnknownOption` or `BadOption`. */
export const machine = (options: MachineOptions): Machine => {
  checkKeys("Agent.machine", options, machineKeys)
  const { approvalPolicy = "on-request", cwd, hiddenPaths = [], secretNames } = options
  checkOption("Agent.machine cwd", cwd.startsWith("/"), "an absolute path", cwd)
  const tools = Effect.promise(() => import("./internal/MachineTools.ts"))
  return {
    "~colloquy/agent/Machine": {
      cwd,
      sandboxPolicy: policyOf(options),
      approvalPolicy,
      layer: Layer.unwrap(Effect.map(tools, ({ layer }) => layer({ hiddenPaths, secretNames }))),
    },
  }
}
