/**
 * The tools of this machine for an agent: commands in a sandbox, patches, plans and images. An agent has them only where
 * it is made with `machine`; nothing of them is loaded otherwise.
 */
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import { AskForApproval, SandboxMode, type SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
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
    /** Text of the AGENTS.md files from the root of the repository down to `cwd`; undefined: there are none. */
    readonly readDocs: Effect.Effect<string | undefined>
  }
}

const shellNames: ReadonlyArray<string> = ["shell", "local_shell", "container.exec"]
/** Names by which a model calls tools of the machine, whichever of them its provider is offered. */
export const machineNames: ReadonlyArray<string> = [
  ...shellNames,
  "update_plan",
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

const isAbsolute = (value: unknown): boolean => typeof value === "string" && value.startsWith("/")

const checkLiteral = (
  option: string,
  schema: typeof SandboxMode | typeof AskForApproval,
  value: unknown,
): void => {
  const expected = `one of ${schema.literals.join(", ")}`
  checkOption(
    `Agent.machine ${option}`,
    value === undefined || Schema.is(schema)(value),
    expected,
    value,
  )
}

const checkList = (
  option: string,
  expected: string,
  isMember: (value: unknown) => boolean,
  value: unknown,
): void => {
  const isList = value === undefined || (Array.isArray(value) && value.every(isMember))
  checkOption(`Agent.machine ${option}`, isList, `an array of ${expected}`, value)
}

/** Throws for options that only a program without types can give, and for a network that nothing would restrict. */
const checkOptions = (options: MachineOptions): void => {
  const isObject = typeof options === "object" && options !== null
  checkOption("Agent.machine", isObject, "options with `cwd`", options)
  checkKeys("Agent.machine", options, machineKeys)
  const { approvalPolicy, cwd, hiddenPaths, network, sandbox, secretNames } = options
  checkOption("Agent.machine cwd", isAbsolute(cwd), "an absolute path", cwd)
  checkLiteral("sandbox", SandboxMode, sandbox)
  checkLiteral("approvalPolicy", AskForApproval, approvalPolicy)
  const isKnown = network === undefined || typeof network === "boolean"
  checkOption("Agent.machine network", isKnown, "true or false", network)
  // The other sandboxes allow it always or never, so that the option would be read as a promise.
  const isUsed = network === undefined || sandbox === undefined || sandbox === "workspace-write"
  const expected = "none unless the sandbox is workspace-write"
  checkOption("Agent.machine network", isUsed, expected, network)
  checkList("secretNames", "names", (name) => typeof name === "string", secretNames)
  checkList("hiddenPaths", "absolute paths", isAbsolute, hiddenPaths)
}

/** Gives an agent the tools of this machine. Throws `UnknownOption` or `BadOption`. */
export const machine = (options: MachineOptions): Machine => {
  checkOptions(options)
  const { approvalPolicy = "on-request", cwd, hiddenPaths = [], secretNames } = options
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
