/**
 * Decides about a command: run it, and how confined; ask a person; or reject it. One pure function over a table of
 * approval policy and sandbox policy, as in the original. It starts nothing and decides without asking.
 *
 * L15: `confinement: "none"` results only from a policy without confinement whose approval policy is not `untrusted`,
 * from a grant for the session, and from an approved question. A missing sandbox leads to a question or a rejection for
 * every command, also for one that only reads. No rule recognizes dangerous commands: the table decides what runs
 * without a question.
 */
import type { Confinement, ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import { isKnownSafe } from "./SafeCommand.ts"

/** Whether this machine can confine commands. */
export type SandboxAvailability =
  | { readonly _tag: "Available" }
  | {
      readonly _tag: "Unavailable"
      /** One line: what is missing or failed. */
      readonly reason: string
      /** One line: what a person can install or change. */
      readonly advice: string
    }

/** A command to decide about. */
export interface CommandRequest {
  /** The words of the command, as it will run. */
  readonly argv: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval
  readonly sandboxPolicy: SandboxPolicy | ConfiningPolicy
  readonly sandbox: SandboxAvailability
  /** True: a person has approved exactly this command for the session. */
  readonly isGranted: boolean
  /** True: the model asked for escalated permissions. */
  readonly isEscalated: boolean
}

/** The decision about a command. */
export type CommandDecision =
  | {
      readonly _tag: "Run"
      readonly confinement: Confinement
      /** True: when the sandbox seems to have denied something, a person is asked whether to run it without sandbox. */
      readonly escalateOnDenial: boolean
    }
  | {
      readonly _tag: "Ask"
      /** Why a person is asked, if not because of the policy. */
      readonly reason?: string
      /** The confinement after approval: always none, which the question has to state. */
      readonly thenConfinement: "none"
    }
  | {
      readonly _tag: "Reject"
      readonly cause: "Escalation" | "SandboxUnavailable"
      /** The output for the model. */
      readonly output: string
    }

/** Names of the approval policies in the original's messages to the model. */
const originalNames = {
  untrusted: "UnlessTrusted",
  "on-failure": "OnFailure",
  never: "Never",
} as const

const escalationRefused = (policy: keyof typeof originalNames): string => {
  const name = originalNames[policy]
  return (
    `approval policy is ${name}; reject command — ` +
    `you should not ask for escalated permissions if the approval policy is ${name}`
  )
}

const unconfined: CommandDecision = { _tag: "Run", confinement: "none", escalateOnDenial: false }

/**
 * A command that only reads runs confined to reading, with the secrets hidden. The original runs it without a sandbox.
 * But the list contains names, and the PATH on which a name is searched may contain a directory of the workspace.
 */
const reading: Extract<CommandDecision, { readonly _tag: "Run" }> = {
  _tag: "Run",
  confinement: { mode: "read-only" },
  escalateOnDenial: false,
}

/** The reason for a question or a rejection when this machine cannot confine a command. */
export const sandboxMissing = (
  status: Pick<Extract<SandboxAvailability, { _tag: "Unavailable" }>, "advice" | "reason">,
): string => `the sandbox is not available: ${status.reason} (${status.advice})`

const ask = (reason?: string): CommandDecision => ({
  _tag: "Ask",
  ...(reason === undefined ? {} : { reason }),
  thenConfinement: "none",
})

/** Decides under a policy that confines, about a command that does not run confined to reading. */
const decideConfined = (
  { approvalPolicy, isEscalated, sandbox }: CommandRequest,
  sandboxPolicy: ConfiningPolicy,
): CommandDecision => {
  if (sandbox._tag === "Unavailable") {
    return approvalPolicy === "never"
      ? {
          _tag: "Reject",
          cause: "SandboxUnavailable",
          output: `exec command rejected: ${sandboxMissing(sandbox)}`,
        }
      : ask(sandboxMissing(sandbox))
  }
  return isEscalated || approvalPolicy === "untrusted"
    ? ask()
    : {
        _tag: "Run",
        confinement: sandboxPolicy,
        escalateOnDenial: approvalPolicy === "on-failure",
      }
}

/** True for a policy that confines commands. */
export const confines = (policy: SandboxPolicy | ConfiningPolicy): policy is ConfiningPolicy =>
  policy.mode === "read-only" || policy.mode === "workspace-write"

/**
 * Decides in this order: may the model ask for escalation, was the command granted, does it only read, and then the
 * table. A command that is known only to read (`cat`), or that reads as long as it is confined to reading (`git
 * status`), runs so without a question; where it cannot be confined it is treated like any other command. Under
 * `external-sandbox` nothing is confined here, as under full access.
 */
export const decideCommand = (request: CommandRequest): CommandDecision => {
  const { approvalPolicy, argv, isEscalated, isGranted, sandbox, sandboxPolicy } = request
  if (isEscalated && approvalPolicy !== "on-request") {
    return { _tag: "Reject", cause: "Escalation", output: escalationRefused(approvalPolicy) }
  }
  if (isGranted) return unconfined
  if (!confines(sandboxPolicy) && approvalPolicy !== "untrusted") return unconfined
  const canConfine = sandbox._tag === "Available" && sandboxPolicy.mode !== "external-sandbox"
  if (canConfine && !isEscalated) {
    if (isKnownSafe(argv, { sandboxedReadOnly: false })) return reading
    if (isKnownSafe(argv, { sandboxedReadOnly: true })) {
      return {
        ...reading,
        escalateOnDenial: approvalPolicy === "untrusted" || approvalPolicy === "on-failure",
      }
    }
  }
  return confines(sandboxPolicy) ? decideConfined(request, sandboxPolicy) : ask()
}
