/**
 * The tools of this machine for an agent: commands in a sandbox, patches, plans and images. An agent has them only where
 * it is made with `machine`; nothing of them is loaded otherwise.
 */
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import { AskForApproval, SandboxMode, type SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Question } from "./Approval.ts"
import {
  type Kinds,
  checkOptions,
  flag,
  is,
  listOf,
  oneOf,
  optional,
  options as optionsOf,
  text,
} from "./internal/Options.ts"

/** What the tools of the machine may do. */
export interface MachineOptions {
  /** Absolute path of the directory that the agent works in. */
  readonly cwd: string
  /**
   * What commands may change: nothing; the directory and temporary files (the default); or everything that the user of
   * this process may. Where the machine cannot confine commands, each of them asks.
   */
  readonly sandbox?: SandboxMode
  /** True: commands may use the network. Only for the sandbox `workspace-write`. Default false. */
  readonly network?: boolean
  /** When `onApproval` is asked; see the page on tools and approvals. Default `on-request`. */
  readonly approvalPolicy?: AskForApproval
  /**
   * Names of environment variables that no command sees, besides the one with the key of the model. Default: those that
   * end in `_KEY`, `_TOKEN` or `_SECRET`.
   */
  readonly secretNames?: ReadonlyArray<string>
  /** Absolute paths that no tool reads and no confined command writes, such as the folder of the store. Default: none. */
  readonly hiddenPaths?: ReadonlyArray<string>
}

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
    /** Text of the AGENTS.md files from the root of the repository down to `cwd`; undefined: there are none. */
    readonly readDocs: Effect.Effect<string | undefined>
  }
}

const shellNames: ReadonlyArray<string> = ["shell", "local_shell", "container.exec"]
/** Names by which a model calls tools of the machine, whichever of them its provider is offered. */
export const machineNames: ReadonlyArray<string> = [
  ...shellNames,
  "update_plan",
  "request_user_input",
  "request_permissions",
  "apply_patch",
  "view_image",
]

/** The first of these names that a tool of the machine has. */
export const machineNameIn = (names: ReadonlyArray<string>): string | undefined =>
  names.find((name) => machineNames.includes(name))

/** Whether a list of names, such as the tools of a child, includes this tool of the machine. `shell` stands for all shells. */
export const includesTool = (list: ReadonlyArray<string>, name: string): boolean =>
  list.includes(shellNames.includes(name) ? "shell" : name)

const policyOf = ({ network, sandbox = "workspace-write" }: MachineOptions): SandboxPolicy =>
  sandbox === "workspace-write"
    ? { mode: sandbox, ...(network === undefined ? {} : { network_access: network }) }
    : { mode: sandbox }

const absolutePath = is(
  "an absolute path",
  (value) => typeof value === "string" && value.startsWith("/"),
)

const machineOptions = optionsOf({
  cwd: absolutePath,
  sandbox: optional(oneOf(SandboxMode)),
  network: optional(flag),
  approvalPolicy: optional(oneOf(AskForApproval)),
  secretNames: optional(listOf("an array of names", text)),
  hiddenPaths: optional(listOf("an array of absolute paths", absolutePath)),
} satisfies Kinds<MachineOptions>)

// The other sandboxes allow the network always or never, so that the option would be read as a promise.
const noNetwork = is("none unless the sandbox is workspace-write", (value) => value === undefined)

/** Gives an agent the tools of this machine. Throws `UnknownOption` or `BadOption`. */
export const machine = (options: MachineOptions): Machine => {
  checkOptions("Agent.machine", machineOptions, options)
  const { approvalPolicy = "on-request", cwd, hiddenPaths = [], secretNames } = options
  const { network, sandbox = "workspace-write" } = options
  if (sandbox !== "workspace-write") checkOptions("Agent.machine network", noNetwork, network)
  const tools = Effect.promise(() => import("./internal/MachineTools.ts"))
  return {
    "~colloquy/agent/Machine": {
      cwd,
      sandboxPolicy: policyOf(options),
      approvalPolicy,
      layer: Layer.unwrap(Effect.map(tools, ({ layer }) => layer({ hiddenPaths, secretNames }))),
      readDocs: Effect.flatMap(tools, ({ readDocs }) => readDocs({ cwd, hiddenPaths })),
    },
  }
}
