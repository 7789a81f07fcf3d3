/**
 * Port: what clients ask of the machine beside any conversation (§3.11). Whoever serves it confines what it runs by the
 * policy it is given, leaves nothing running behind an interruption (L8), and asks no person.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { FuzzyFileSearch } from "@colloquy/protocol/app/Host"
import type { ResultOf } from "@colloquy/protocol/Method"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** It could not be done; `message` is for the person who asked. */
export class HostFailed extends Data.TaggedError("HostFailed")<{
  readonly message: string
  /** Present: this machine cannot confine the program as its policy asks. */
  readonly reason?: "SandboxUnavailable"
}> {}

export type FoundFile = ResultOf<typeof FuzzyFileSearch>["files"][number]

export interface OneOffCommand {
  /** Word by word, at least one. */
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly timeout: Duration.Duration
  /** Directory, sandbox and environment; nothing else of it counts. */
  readonly settings: ConversationSettings
}

export interface FileQuery {
  /** Not empty. */
  readonly query: string
  readonly roots: ReadonlyArray<string>
  /** When it returns, the search gives what it has. */
  readonly until: Effect.Effect<void>
}

export class HostPort extends Context.Service<
  HostPort,
  {
    /** Of the working tree around `settings.cwd`. Fails also where there is no repository, or no remote. */
    readonly gitDiffToRemote: (
      settings: ConversationSettings,
    ) => Effect.Effect<{ readonly sha: string; readonly diff: string }, HostFailed>
    /** Best first. A root that cannot be read has no files. */
    readonly searchFiles: (query: FileQuery) => Effect.Effect<ReadonlyArray<FoundFile>, HostFailed>
    /** Fails for a program that never ran, or ran out of time; an exit code is no failure. */
    readonly runCommand: (
      command: OneOffCommand,
    ) => Effect.Effect<
      { readonly exitCode: number; readonly stdout: string; readonly stderr: string },
      HostFailed
    >
  }
>()("@colloquy/server/app/ports/HostPort") {
  /** Of a server that runs nothing. */
  static readonly none = HostPort.of({
    gitDiffToRemote: () => failed,
    searchFiles: () => failed,
    runCommand: () => failed,
  })

  static readonly layerNone = Layer.succeed(this, this.none)
}

const failed = Effect.suspend(() =>
  Effect.fail(new HostFailed({ message: "this server runs no programs" })),
)
