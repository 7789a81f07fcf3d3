/** The vocabulary of questions: what a tool asks, the verdict, and what decides without a listener. Types only. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { UserInputAnswers, UserInputQuestion } from "@colloquy/protocol/events/QuestionEvents"
import type { FurtherPermissions, ReviewDecision, SandboxPolicy } from "@colloquy/protocol/Policy"
import type { ToolOutputPart } from "@colloquy/protocol/ResponseItem"
import type { Confinement } from "./Confinement.ts"

/** May this command run? */
export interface ExecApproval {
  readonly _tag: "Exec"
  /** Id of the tool call in events. */
  readonly callId: string
  /** What will run, word by word, not as it is displayed. */
  readonly command: ReadonlyArray<string>
  /** Working directory, absolute and without symbolic links: a grant is for this directory by any name. */
  readonly cwd: string
  /** Absolute path by which the call named the directory. Present when it leads to `cwd` through symbolic links. */
  readonly namedCwd?: string
  /** Sandbox policy that it runs under once approved. */
  readonly sandbox: SandboxPolicy
  /** What the command does, shown to a person beside the command itself. */
  readonly parsedCommand?: ReadonlyArray<ParsedCommand>
  /** Why the tool asks. Quoted in the question. */
  readonly reason?: string
  /** The reason that the model gives. Quoted in the question and attributed to the model. */
  readonly justification?: string
}

/** May these files be changed? */
export interface PatchApproval {
  readonly _tag: "Patch"
  /** Id of the tool call in events. */
  readonly callId: string
  /** The changes, by absolute path. */
  readonly changes: Readonly<Record<string, FileChange>>
  /** Why the tool asks. Quoted in the question. */
  readonly reason?: string
  /** The reason that the model gives. Quoted in the question and attributed to the model. */
  readonly justification?: string
  /** How the patch is confined once approved. Absent: it is applied without a sandbox. */
  readonly confinement?: Confinement
  /** Paths that lead elsewhere through symbolic links, with the absolute path that each leads to. */
  readonly links?: Readonly<Record<string, string>>
  /** Absolute path of a directory. `approved_for_session` then covers later changes below it. */
  readonly grantRoot?: string
}

/** May this tool of the embedding application, or of a tool server, be called? */
export interface ToolApproval {
  readonly _tag: "Tool"
  /** Id of the tool call in events. */
  readonly callId: string
  /** Name by which the model calls the tool; of a tool server, its name there. */
  readonly tool: string
  /** Name of the tool server in the configuration; absent for a tool of the application. */
  readonly server?: string
  /** What the tool server says of the tool. */
  readonly annotations?: Readonly<Record<string, unknown>>
  /** What the handler gets, in its encoded form: a JSON value. */
  readonly arguments: unknown
  /** Why the question is asked. Quoted in it. */
  readonly reason?: string
}

/** May the agent have permissions that the sandbox does not give? */
export interface PermissionsApproval {
  readonly _tag: "Permissions"
  /** Id of the tool call in events. */
  readonly callId: string
  /** What is asked for: at least one permission. Paths are absolute and without symbolic links. */
  readonly permissions: FurtherPermissions
  /** Working directory of the conversation. */
  readonly cwd: string
  /** Why the tool asks. Quoted in the question. */
  readonly reason?: string
  /** The reason that the model gives. Quoted in the question and attributed to the model. */
  readonly justification?: string
}

/** A question about a call of a tool. */
export type ApprovalRequest = ExecApproval | PatchApproval | ToolApproval | PermissionsApproval

/** The question of a tool server: a form to fill in. An answer allows nothing. */
export interface Elicitation {
  /** Name of the tool server in the configuration. */
  readonly server: string
  /** Text of the question. */
  readonly message: string
  /**
   * JSON Schema of the object to fill in, with at most 8 levels. Message and schema have at most 64 Ki characters of
   * JSON each; a larger form is declined without a question.
   */
  readonly requestedSchema: Readonly<Record<string, unknown>>
}

/** A call of a tool of the clients, which one of them is to run. */
export interface ClientCall {
  /** Id of the tool call in events. */
  readonly callId: string
  /** Name of the tool, in its namespace if it has one. */
  readonly tool: string
  readonly namespace?: string
  /** A JSON value that matches the input schema of the tool. */
  readonly arguments: unknown
}

/** What a tool of a client has returned. */
export interface ClientResult {
  /** False: the tool has failed, as its content says. */
  readonly success: boolean
  readonly content: ReadonlyArray<ToolOutputPart>
}

/** What became of such a call: its result, or why there is none. */
export type ClientOutcome =
  | ({ readonly _tag: "Result" } & ClientResult)
  | { readonly _tag: "None"; readonly reason: ApprovalReason }

/** The answer that a tool server gets, as MCP defines it. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/** Questions of the agent to a person. An answer allows nothing. */
export interface UserInputRequest {
  /** Id of the tool call in events. */
  readonly callId: string
  /** At least one, with different ids. At most 64 Ki characters of JSON; larger ones are declined without being asked. */
  readonly questions: ReadonlyArray<UserInputQuestion>
}

/** What the person answered; `reason` says why there is no answer, `answered` that the person declined. */
export type UserInputAnswer =
  | { readonly _tag: "Answered"; readonly answers: UserInputAnswers }
  | { readonly _tag: "Unanswered"; readonly reason: ApprovalReason }

/** Why a question has its verdict. */
export type ApprovalReason = EventOf<"approval_resolved">["reason"]

/** The outcome of a question. Without an answer of a person or a rule it is `denied`. */
export interface Verdict {
  readonly decision: ReviewDecision
  readonly reason: ApprovalReason
  /**
   * What is granted of the permissions that were asked for: until the turn ends, or for the session. The sandbox of later
   * commands and patches allows it.
   */
  readonly permissions?: FurtherPermissions
}

/**
 * What decides a question that no listener can answer. `deny` denies it, a rule approves it by returning true, and with
 * `park` it waits, without a deadline, for a listener that can answer. A rule cannot fill in a form: unless it is parked,
 * the question of a tool server is declined.
 */
export type Unattended =
  | "deny"
  | "park"
  | {
      /** Must be pure, as the fiber of the conversation calls it. An exception is a denial with reason `failed`. */
      readonly allow: (request: ApprovalRequest) => boolean
    }

/**
 * Which questions a listener can answer: all, only approvals, or only forms: those of tool servers and the agent's
 * questions. `calls` runs the tools of the clients and answers no question; `everything` does both.
 */
export type Answers = "all" | "approvals" | "forms" | "calls" | "everything"
