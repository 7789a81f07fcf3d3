/** The vocabulary of questions: what a tool asks, what becomes of it, and who decides where nobody is there. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { ReviewDecision, SandboxPolicy } from "@colloquy/protocol/Policy"
import type { Confinement } from "./Confinement.ts"

/** May this command run? */
export interface ExecApproval {
  readonly _tag: "Exec"
  /** Of the model's tool call. */
  readonly callId: string
  /** What will run, word by word: not what is displayed (R21). */
  readonly command: ReadonlyArray<string>
  /** Absolute. The shell gives it without symbolic links: a grant is for this directory, whatever name leads to it. */
  readonly cwd: string
  /** Absolute; present where the call named the directory by a path that leads to `cwd` through symbolic links. */
  readonly namedCwd?: string
  /** What it will run under once approved. */
  readonly sandbox: SandboxPolicy
  /** What it does, for a person to see beside the command itself. */
  readonly parsedCommand?: ReadonlyArray<ParsedCommand>
  /** Why the tool asks. It is quoted in the question. */
  readonly reason?: string
  /** Why the model wants it, in the model's words. It is quoted in the question as such. */
  readonly justification?: string
}

/** May these files be changed? */
export interface PatchApproval {
  readonly _tag: "Patch"
  /** Of the model's tool call. */
  readonly callId: string
  /** By absolute path. */
  readonly changes: Readonly<Record<string, FileChange>>
  /** Why the tool asks. It is quoted in the question. */
  readonly reason?: string
  /** Why the model wants it, in the model's words. It is quoted in the question as such. */
  readonly justification?: string
  /** How it is applied once approved; absent: without the sandbox. */
  readonly confinement?: Confinement
  /** The paths that lead elsewhere because of symbolic links, each with the absolute path of that place. */
  readonly links?: Readonly<Record<string, string>>
  /** Absolute; `approved_for_session` then covers later changes below it. */
  readonly grantRoot?: string
}

export type ApprovalRequest = ExecApproval | PatchApproval

/** What a tool server asks a person, to be filled in as a form. An answer allows nothing. */
export interface Elicitation {
  /** Its name in the configuration. */
  readonly server: string
  readonly message: string
  /**
   * JSON Schema of the object to be given, with at most 8 levels. Message and schema have at most 64 Ki characters of
   * JSON each; a larger form is declined without a question.
   */
  readonly requestedSchema: Readonly<Record<string, unknown>>
}

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

export type ApprovalReason = EventOf<"approval_resolved">["reason"]

/** What became of a question. Without an answer by a person or a rule it is `denied`. */
export interface Verdict {
  readonly decision: ReviewDecision
  readonly reason: ApprovalReason
}

/**
 * What decides where no listener can answer: `deny`, a rule that approves what it gives true for, or `park`: the
 * question waits, without a deadline, for a listener that can. No rule fills in a form: unless it is parked, the
 * question of a tool server is declined.
 */
export type Unattended =
  | "deny"
  | "park"
  | {
      /** Pure; called by the conversation's fiber. What it throws is a denial, reason `failed`. */
      readonly allow: (request: ApprovalRequest) => boolean
    }

/** Which questions a listener can put to somebody: all, only those of our own tools, or only forms of tool servers. */
export type Answers = "all" | "approvals" | "forms"
