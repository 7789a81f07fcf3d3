/** The vocabulary of running a program: what runs, under which confinement, and what came of it. */
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/** A program as it is to be started; whatever confines it is part of it already. */
export interface Launch {
  /** Argument list word by word, never through a shell; the first is found on the PATH of `env`. */
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** Absolute. */
  readonly cwd: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  /** Bytes the program reads from file descriptors of its own, by number (3 and up). */
  readonly inputs: ReadonlyMap<number, Uint8Array>
  /** Bytes for its standard input; absent: closed. */
  readonly stdin?: Uint8Array
  /**
   * True: standard output and standard error are one pipe, which alone keeps the order in which a program writes to both.
   * All of it counts as standard output.
   */
  readonly joinsOutput?: boolean
  /** File descriptor on which the sandbox tells whether the program began (`--json-status-fd`). */
  readonly statusFd?: number
  /** Present when the last step of the sandbox is a launcher that becomes the program. */
  readonly launcher?: {
    /** How its message on stderr begins when it cannot: the exit code is then 127 (not found), 126 (not executable) or another. */
    readonly prefix: string
    /** Name of the program as it was asked for. */
    readonly program: string
  }
  /** True when the sandbox kills everything it started once the server is gone; else that has to be arranged. */
  readonly diesWithParent: boolean
  /**
   * Those of `inputs` that are held back until the watchdog knows of what reads them, as `diesWithParent` alone takes a
   * moment to be so, and nothing may be left by a server that dies in it.
   */
  readonly held?: {
    /** Without its bytes nothing of the program ever runs. */
    readonly outside: number
    /** Without its bytes what the sandbox has begun, and told on `statusFd` as `child-pid`, leads no group and runs nothing. */
    readonly inside: number
  }
}

/** What was kept of a stream of bytes: its head and tail. */
export interface Captured {
  /** Decoded as UTF-8; what is invalid reads U+FFFD. With a marker where bytes are missing. */
  readonly text: string
  readonly totalBytes: number
  readonly omittedBytes: number
}

export interface CommandResult {
  readonly exit:
    | { readonly _tag: "Exited"; readonly code: number }
    /** Name of the signal, `SIGKILL`. */
    | { readonly _tag: "Signaled"; readonly signal: string }
    | { readonly _tag: "TimedOut"; readonly after: Duration.Duration }
  readonly stdout: Captured
  readonly stderr: Captured
  /** Both streams: in the order they were written where they are joined, else in order of arrival. */
  readonly aggregated: Captured
  readonly duration: Duration.Duration
}

/** Bytes as they came, already gathered to pieces of a useful size. */
export interface OutputChunk {
  readonly stream: "stdout" | "stderr"
  readonly bytes: Uint8Array
}

/** The program never ran. `message` is for the model: what could not be started, and why. */
export class CommandNotStarted extends Schema.TaggedError<CommandNotStarted>()(
  "CommandNotStarted",
  {
    reason: Schema.Literals([
      "NotFound",
      "NotExecutable",
      "Directory",
      "Sandbox",
      "Arguments",
      "Other",
    ]),
    message: Schema.String,
  },
) {}
