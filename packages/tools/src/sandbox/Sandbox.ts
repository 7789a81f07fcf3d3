/**
 * Service: what confines a command on this machine. Probed once; where it does not work it says so and why, and
 * nothing runs as if it did (L15).
 */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CommandNotStarted, Launch } from "../process/Command.ts"
import type { NamedPipes } from "./Landlock.ts"

export type SandboxKind = "bubblewrap" | "seatbelt"

export type SandboxStatus =
  | {
      readonly _tag: "Available"
      readonly kind: SandboxKind
      readonly version: string
      /** Whether it also closes the named pipes outside the writable roots. */
      readonly namedPipes: NamedPipes
    }
  | {
      readonly _tag: "Unavailable"
      /** One line: what is missing or failed, in the words of the system. */
      readonly reason: string
      /** What a person may do about it. */
      readonly advice: string
    }

/** Policies that are enforced here; under the others nothing is confined. */
export type ConfiningPolicy = Extract<
  SandboxPolicy,
  { readonly mode: "read-only" | "workspace-write" }
>

/** What is to run, not yet confined. */
export type Unconfined = Pick<Launch, "argv" | "cwd" | "env" | "stdin">

export class Sandbox extends Context.Service<
  Sandbox,
  {
    /** Probed on first need, then the same for as long as the server runs. */
    readonly status: Effect.Effect<SandboxStatus>
    /**
     * The same program, confined. `cwd` of the policy is the directory of the conversation, which may differ from that
     * of the command. What has to be undone afterwards is undone when the scope ends; run it inside. Fails where
     * `status` is unavailable.
     */
    readonly confine: (
      command: Unconfined,
      policy: ConfiningPolicy,
      workspace: string,
    ) => Effect.Effect<Launch, CommandNotStarted, Scope.Scope>
  }
>()("@colloquy/tools/Sandbox") {}
