/**
 * Describes what an approval allows: how the command runs or the patch is applied once approved, and what
 * `approved_for_session` covers. Pure. Keeps its part of L7 and L15: the text follows from the values that the tool runs
 * with, so a question never promises a confinement that does not exist.
 */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type {
  ApprovalRequest,
  ExecApproval,
  PatchApproval,
  PermissionsApproval,
} from "../approvals/Approval.ts"
import type { ConfiningPolicy } from "../approvals/Confinement.ts"
import { attributed, quoted } from "./VisibleText.ts"

/** The confinement of the conversation without an approval. */
export interface QuestionSettings {
  readonly cwd: string
  readonly sandboxPolicy: SandboxPolicy
}

type WorkspaceWrite = Extract<ConfiningPolicy, { readonly mode: "workspace-write" }>

const everything =
  "it can read and change every file that the user of this server can, and use the network"

const isConfining = ({ mode }: SandboxPolicy): boolean =>
  mode === "read-only" || mode === "workspace-write"

/** Most directories that are named; further ones are counted. */
const maxRoots = 4

const rootsText = (policy: WorkspaceWrite, cwd: string): string => {
  const named = [cwd, ...(policy.writable_roots ?? []), ...(policy.granted?.write ?? [])]
  const temporary = [
    ...(policy.exclude_slash_tmp === true ? [] : ["/tmp"]),
    ...(policy.exclude_tmpdir_env_var === true ? [] : ["$TMPDIR"]),
  ]
  const left = named.length - maxRoots
  return [
    ...named.slice(0, maxRoots).map((root) => quoted(root)),
    ...(left > 0 ? [`${left} more configured directories`] : []),
    ...temporary,
  ].join(", ")
}

const networkText = (policy: WorkspaceWrite): string =>
  policy.network_access === true ? "and use the network" : "and not use the network"

/** The effect of a command that runs without the sandbox of this server. */
const unconfinedText = ({ sandboxPolicy }: QuestionSettings): string => {
  if (isConfining(sandboxPolicy)) return `it runs without the sandbox: ${everything}`
  return sandboxPolicy.mode === "external-sandbox"
    ? "it runs without a sandbox of this server, like every command of this conversation: it can do what the user of this server can, wherever the server itself is confined"
    : `it runs without a sandbox, like every command of this conversation: ${everything}`
}

const execEffect = ({ sandbox }: ExecApproval, settings: QuestionSettings): string => {
  switch (sandbox.mode) {
    case "danger-full-access":
      return unconfinedText(settings)
    case "external-sandbox":
      return "the application that embeds this server carries it out; no sandbox of this server confines it"
    case "read-only":
      return "it runs in the sandbox: it can change no file and not use the network"
    case "workspace-write":
      return `it runs in the sandbox: it can change files below ${rootsText(sandbox, settings.cwd)} ${networkText(sandbox)}`
  }
}

const patchEffect = (
  { confinement = "none" }: PatchApproval,
  settings: QuestionSettings,
): string => {
  if (confinement === "none") {
    return isConfining(settings.sandboxPolicy)
      ? "these files are changed without the sandbox, and no other file is"
      : "these files are changed, without a sandbox like everything in this conversation, and no other file is"
  }
  if (confinement.mode === "read-only") {
    const { write = [] } = confinement.granted ?? {}
    return write.length === 0
      ? "the sandbox allows no file to be changed"
      : `these files are changed in the sandbox, which allows changes below ${namedPaths(write)}, and no other file is`
  }
  return `these files are changed in the sandbox, which allows changes below ${rootsText(confinement, settings.cwd)}, and no other file is`
}

/** Every path, since a person decides about each. */
const namedPaths = (paths: ReadonlyArray<string>): string =>
  paths.map((path) => quoted(path)).join(", ")

const permissionsEffect = ({ permissions }: PermissionsApproval): string => {
  const { network, read = [], write = [] } = permissions
  const allowed = [
    ...(write.length === 0 ? [] : [`change files below ${namedPaths(write)}`]),
    ...(read.length === 0 ? [] : [`read files below ${namedPaths(read)}`]),
    ...(network === true ? ["use the network"] : []),
  ]
  return `the commands and patches of this turn may also ${allowed.join(", and ")}, in the sandbox and without a question`
}

const effect = (request: ApprovalRequest, settings: QuestionSettings): string => {
  switch (request._tag) {
    case "Exec":
      return execEffect(request, settings)
    case "Patch":
      return patchEffect(request, settings)
    case "Tool":
      return request.server === undefined
        ? "the application that embeds this server carries it out; no sandbox of this server confines it"
        : "the tool server carries it out; no sandbox of this server confines it"
    case "Permissions":
      return permissionsEffect(request)
  }
}

/** What an approval allows: one sentence. */
export const effectOf = (request: ApprovalRequest, settings: QuestionSettings): string =>
  `If approved, ${effect(request, settings)}.`

const lasting = "in this conversation and its forks, also after a restart"

/** What `approved_for_session` allows beyond that: one sentence, or one with a quoted path on separate lines. */
export const sessionScopeOf = (request: ApprovalRequest): string => {
  if (request._tag === "Exec") {
    return `Approved for the session, exactly this command in this directory runs so again without a question: ${lasting}.`
  }
  if (request._tag === "Tool") {
    return `Approved for the session, this tool runs with exactly these arguments again without a question: ${lasting}.`
  }
  if (request._tag === "Permissions") {
    return `Approved for the session, later turns may do so too: ${lasting}.`
  }
  return request.grantRoot === undefined
    ? "Approved for the session, it allows this patch and no other: the next one is asked about again."
    : attributed(
        `Approved for the session, every later patch that names this directory too may change files below it without a question, ${lasting}`,
        request.grantRoot,
      )
}
