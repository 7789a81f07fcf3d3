/**
 * Service: confines commands on this machine. Probed once. Where the sandbox does not work, the status says so with the
 * reason, and nothing runs as if it were confined (L15).
 */
import type { ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CommandNotStarted, Launch } from "../process/Command.ts"
import type { NamedPipes } from "./linux/Landlock.ts"

export type { ConfiningPolicy }

/** The technique that confines. */
export type SandboxKind = "bubblewrap" | "seatbelt"

/** Whether commands can be confined on this machine. */
export type SandboxStatus =
  | {
      readonly _tag: "Available"
      readonly kind: SandboxKind
      readonly version: string
      /** Whether named pipes outside the writable roots are closed too. */
      readonly namedPipes: NamedPipes
    }
  | {
      readonly _tag: "Unavailable"
      /** One line: what is missing or failed, in the words of the system. */
      readonly reason: string
      /** What a person can do about it. */
      readonly advice: string
    }

/** A program to be run that is not confined yet. */
export type Unconfined = Pick<Launch, "argv" | "cwd" | "env" | "stdin">

/** Confines commands; see the header of this file. */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    /** Probed when first needed, then constant for the lifetime of the server. */
    readonly status: Effect.Effect<SandboxStatus>
    /**
     * Returns the launch of the same program in the sandbox. `workspace` is the directory of the conversation, which
     * may differ from that of the command. Run the launch inside the scope: when it closes, temporary changes to the
     * file system are undone. Fails where `status` is unavailable.
     */
    readonly confine: (
      command: Unconfined,
      policy: ConfiningPolicy,
      workspace: string,
    ) => Effect.Effect<Launch, CommandNotStarted, Scope.Scope>
  }
>()("@colloquy/tools/Sandbox") {}
