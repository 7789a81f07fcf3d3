/**
 * Port: requests of clients to the machine that belong to no conversation. The implementation confines commands by the
 * given policy, leaves nothing running after an interruption (L8), and never asks a person.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { FuzzyFileSearch } from "@colloquy/protocol/app/Host"
import type { ResultOf } from "@colloquy/protocol/Method"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The action failed; `message` is for the person. */
export class HostFailed extends Data.TaggedError("HostFailed")<{
  readonly message: string
  /**
   * `SandboxUnavailable`: this machine cannot confine the command as the policy requires. `OutsideWorkspace`: the client may
   * not use that directory or that policy. `TerminalUnavailable`: this machine has no terminal for the command.
   */
  readonly reason?: "SandboxUnavailable" | "OutsideWorkspace" | "TerminalUnavailable"
}> {}

/** A file found by a search, as on the wire. */
export type FoundFile = ResultOf<typeof FuzzyFileSearch>["files"][number]

/** A command outside of any conversation. */
export interface OneOffCommand {
  /** The program and its arguments. */
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** The command is killed after this time, and `runCommand` fails. */
  readonly timeout: Duration.Duration
  /** Only the directory, the sandbox and the environment are used. */
  readonly settings: ConversationSettings
}

/** A search for files by name. */
export interface FileQuery {
  /** Not empty. */
  readonly query: string
  /** Directories to search. */
  readonly roots: ReadonlyArray<string>
  /** Once this resolves, the search ends with what it has found. */
  readonly until: Effect.Effect<void>
}

/** The machine as clients use it outside of conversations. */
export class HostPort extends Context.Service<
  HostPort,
  {
    /** The diff of the working tree around `settings.cwd` to its remote. Fails without a repository or a remote. */
    readonly gitDiffToRemote: (
      settings: ConversationSettings,
    ) => Effect.Effect<{ readonly sha: string; readonly diff: string }, HostFailed>
    /** The matching files, best first. A root that cannot be read counts as empty. */
    readonly searchFiles: (query: FileQuery) => Effect.Effect<ReadonlyArray<FoundFile>, HostFailed>
    /** Runs the command. Fails when it could not be started or timed out; an exit code other than 0 is no failure. */
    readonly runCommand: (
      command: OneOffCommand,
    ) => Effect.Effect<
      { readonly exitCode: number; readonly stdout: string; readonly stderr: string },
      HostFailed
    >
  }
>()("@colloquy/server/app/ports/HostPort") {
  /** For a server that runs no commands: every member fails. */
  static readonly none = HostPort.of({
    gitDiffToRemote: () => failed,
    searchFiles: () => failed,
    runCommand: () => failed,
  })

  /** `none` as a layer. */
  static readonly layerNone = Layer.succeed(this, this.none)
}

const failed = Effect.suspend(() =>
  Effect.fail(new HostFailed({ message: "command execution is disabled" })),
)
