/**
 * What becomes of a command: run it, and how confined; ask a person; or refuse it. One pure function over the table of
 * §6.13. It starts and asks nothing.
 *
 * L15: `confinement: "none"` comes out for a policy that says so, for one granted for the session, behind a question
 * that tells so, and for a command that only reads where the machine cannot confine it; for any other a sandbox that is
 * missing makes a question or a refusal, never a run without it. There is no rule for commands that look dangerous: the table says what runs without a question.
 */
import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import { isKnownSafe } from "./SafeCommand.ts"

/** Policies that are enforced here; under the others nothing is confined. */
export type ConfiningPolicy = Extract<
  SandboxPolicy,
  { readonly mode: "read-only" | "workspace-write" }
>

export type Confinement = "none" | ConfiningPolicy

/** Whether the machine can confine anything. */
export type SandboxAvailability =
  | { readonly _tag: "Available" }
  /** `reason`: one line. */
  | { readonly _tag: "Unavailable"; readonly reason: string }

export interface CommandRequest {
  /** Word by word, as it will run. */
  readonly argv: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval
  readonly sandboxPolicy: SandboxPolicy
  readonly sandbox: SandboxAvailability
  /** True: a person has approved the very same before, for the session. */
  readonly isGranted: boolean
  /** True: the model asked for escalated permissions. */
  readonly isEscalated: boolean
}

export type CommandDecision =
  | {
      readonly _tag: "Run"
      readonly confinement: Confinement
      /** True: where the sandbox seems to have denied something, a person is asked to run it without. */
      readonly escalateOnDenial: boolean
    }
  | {
      readonly _tag: "Ask"
      /** Why a person is asked, beyond the policy. */
      readonly reason?: string
      /** How it runs once approved (§6.13): the question has to say so. */
      readonly thenConfinement: "none"
    }
  | {
      readonly _tag: "Reject"
      /** For the model. */
      readonly output: string
    }

/** How the original calls them to the model. */
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
 * A command that only reads: where the machine can confine it, it is kept to that, and from what is secret. The
 * original runs it without; its list is by name alone, and a name is found on a PATH that a workspace may be part of.
 */
const reading: Extract<CommandDecision, { readonly _tag: "Run" }> = {
  _tag: "Run",
  confinement: { mode: "read-only" },
  escalateOnDenial: false,
}

/** Why a person is asked, or the model refused, where the machine cannot confine. */
export const sandboxMissing = (reason: string): string => `the sandbox is not available: ${reason}`

const ask = (reason?: string): CommandDecision => ({
  _tag: "Ask",
  ...(reason === undefined ? {} : { reason }),
  thenConfinement: "none",
})

/** Under a policy that confines, with a command nobody vouches for. */
const decideConfined = (
  { approvalPolicy, isEscalated, sandbox }: CommandRequest,
  sandboxPolicy: ConfiningPolicy,
): CommandDecision => {
  if (approvalPolicy === "untrusted") return ask()
  if (sandbox._tag === "Unavailable") {
    return approvalPolicy === "never"
      ? {
          _tag: "Reject",
          output:
            "exec command rejected: auto-rejected because command is not on trusted list " +
            `(${sandboxMissing(sandbox.reason)})`,
        }
      : ask(sandboxMissing(sandbox.reason))
  }
  return isEscalated
    ? ask()
    : {
        _tag: "Run",
        confinement: sandboxPolicy,
        escalateOnDenial: approvalPolicy === "on-failure",
      }
}

const confines = (policy: SandboxPolicy): policy is ConfiningPolicy =>
  policy.mode === "read-only" || policy.mode === "workspace-write"

/**
 * Decides in the order of §6.13: may it ask to be escalated, is it trusted, what says the table. A command that reads
 * as long as it is kept to reading (`git status`) runs so, unasked, wherever something is confined or a person would
 * be asked; an `external-sandbox` reads like full access.
 */
export const decideCommand = (request: CommandRequest): CommandDecision => {
  const { approvalPolicy, argv, isEscalated, isGranted, sandbox, sandboxPolicy } = request
  if (isEscalated && approvalPolicy !== "on-request") {
    return { _tag: "Reject", output: escalationRefused(approvalPolicy) }
  }
  if (isGranted) return unconfined
  const runsOpenly = !confines(sandboxPolicy) && approvalPolicy !== "untrusted"
  if (runsOpenly) return unconfined
  const canConfine = sandbox._tag === "Available" && sandboxPolicy.mode !== "external-sandbox"
  const mayConfine = canConfine && !isEscalated && confines(sandboxPolicy)
  if (isKnownSafe(argv, { sandboxedReadOnly: false })) return mayConfine ? reading : unconfined
  if (canConfine && !isEscalated && isKnownSafe(argv, { sandboxedReadOnly: true })) {
    return {
      ...reading,
      escalateOnDenial: approvalPolicy === "untrusted" || approvalPolicy === "on-failure",
    }
  }
  return confines(sandboxPolicy) ? decideConfined(request, sandboxPolicy) : ask()
}
