/**
 * Port: commands that a client runs outside of any thread, in the sandbox of the given settings, with streams. The
 * implementation leaves nothing running after an interruption (L8) and never asks a person. The default runs nothing.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { TerminalSize } from "@colloquy/protocol/thread/Commands"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { HostFailed } from "../../../app/ports/HostPort.ts"

/** A command of a client. */
export interface ClientCommand {
  /** The program and its arguments. */
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** Only the directory, the sandbox and the environment are used. */
  readonly settings: ConversationSettings
  /** Added to the environment; null removes a variable. */
  readonly variables: Readonly<Record<string, string | null>>
  /** The command is ended when it has run for this time; what passes before it runs does not count. */
  readonly timeout: Duration.Duration
  /** Bytes of the beginning of each stream that are in the result; the rest is dropped. */
  readonly maxOutputBytes: number
  /** What it reads from its standard input; absent: that is empty. */
  readonly input?: Stream.Stream<Uint8Array>
  /** It runs in a terminal of this size, which is given later sizes; its input is typed there, and it has no `stderr`. */
  readonly terminal?: { readonly size: TerminalSize; readonly sizes: Stream.Stream<TerminalSize> }
  /** Called with each piece of output. Until it completes, no more is read. */
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => Effect.Effect<void>
}

/** How a command ended. */
export interface CommandEnd {
  /** 124 when its time was up; 128 and the number of the signal that killed it. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Commands of clients. */
export interface Commands {
  /** Runs the command and resolves when it and all its descendants are gone. Fails when it could not be started. */
  readonly run: (command: ClientCommand) => Effect.Effect<CommandEnd, HostFailed>
}

/** Runs nothing. */
export const noCommands: Commands = {
  run: () => Effect.fail(new HostFailed({ message: "command execution is disabled" })),
}

/** The commands that clients run. */
export const CommandPort = Context.Reference<Commands>("@colloquy/server/thread/host/CommandPort", {
  defaultValue: () => noCommands,
})
