/** The vocabulary of running a program: what runs, how it is confined, and its result. */
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/** A program to be started. Whatever confines it is already part of `argv`. */
export interface Launch {
  /** Argument list, passed without a shell. The first word is looked up on the PATH of `env`. */
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** Working directory, an absolute path. */
  readonly cwd: string
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Bytes that the program can read from additional file descriptors, by descriptor number (3 and up). */
  readonly inputs: ReadonlyMap<number, Uint8Array>
  /** Bytes for the standard input. Absent: the standard input is closed. */
  readonly stdin?: Uint8Array
  /** A stream for the standard input, which is closed at its end. Not used where `stdin` is given. */
  readonly input?: Stream.Stream<Uint8Array>
  /**
   * True: standard output and standard error are one pipe, the only way to keep the order in which a program writes to
   * both. All of it counts as standard output. Default false.
   */
  readonly joinsOutput?: boolean
  /** File descriptor on which the sandbox reports whether the program started (`--json-status-fd` of bubblewrap). */
  readonly statusFd?: number
  /** Present when the last step of the sandbox is a launcher that replaces itself by the program. */
  readonly launcher?: {
    /**
     * Prefix of the launcher's message on standard error when it cannot start the program. Its exit code is then 127
     * (not found), 126 (not executable) or another one.
     */
    readonly prefix: string
    /** Name of the program as it was requested. */
    readonly program: string
  }
  /** True when the sandbox kills everything that it started once the server is gone. Otherwise the watchdog has to. */
  readonly diesWithParent: boolean
  /**
   * Descriptors among `inputs` whose bytes are withheld until the watchdog knows the process groups of the program.
   * `diesWithParent` takes effect a moment after the start, and a server that dies in that moment must leave nothing
   * behind.
   */
  readonly held?: {
    /** Until this descriptor has its bytes, nothing of the program runs. */
    readonly outside: number
    /**
     * Until this descriptor has its bytes, the process that the sandbox started (reported on `statusFd` as `child-pid`)
     * leads no process group yet and runs nothing.
     */
    readonly inside: number
  }
}

/** What was kept of a byte stream: its head and its tail. */
export interface Captured {
  /** Decoded as UTF-8, with U+FFFD for invalid bytes and a marker where bytes are missing. */
  readonly text: string
  /** Bytes of the whole stream. */
  readonly totalBytes: number
  /** Bytes of the stream that are not in `text`. */
  readonly omittedBytes: number
}

/** The result of a program that ran. */
export interface CommandResult {
  /** How the program ended: its exit code, the signal that killed it, or the timeout after which it was killed. */
  readonly exit:
    | { readonly _tag: "Exited"; readonly code: number }
    /** Name of the signal, such as `SIGKILL`. */
    | { readonly _tag: "Signaled"; readonly signal: string }
    | { readonly _tag: "TimedOut"; readonly after: Duration.Duration }
  readonly stdout: Captured
  readonly stderr: Captured
  /** Both streams: in the order of writing where the streams are joined, else in the order of arrival. */
  readonly aggregated: Captured
  /** Time from the start until the program and its descendants were gone. */
  readonly duration: Duration.Duration
}

/** A piece of output as it was read. */
export interface OutputChunk {
  readonly stream: "stdout" | "stderr"
  /** A piece of any size; it may end within a character. */
  readonly bytes: Uint8Array
}

/**
 * The program never ran, or it cannot be told whether it has left processes. `message` says what could not be done and
 * why; the model reads it.
 */
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
