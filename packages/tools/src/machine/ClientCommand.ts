/**
 * Runs a command of a client, outside of any conversation, with streams: in the sandbox of the policy, or not at all (L15).
 * Leaves no process behind (L8). Of each stream the result has the beginning.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { OutputChunk } from "../process/Command.ts"
import * as OneOff from "./OneOffCommand.ts"
import { inTerminal, type Terminal, terminalInput } from "./Terminal.ts"

/** A command of a client. */
export interface ClientCommand extends Omit<
  OneOff.OneOffCommand,
  "variables" | "maxOutputBytes" | "onOutput"
> {
  /** Added to its environment; null removes a variable. */
  readonly variables: Readonly<Record<string, string | null>>
  /** Bytes of the beginning of each stream that are in the result. */
  readonly maxOutputBytes: number
  /** What it reads from its standard input; absent: that is empty. */
  readonly input?: Stream.Stream<Uint8Array>
  /** It runs in this terminal, which `python` opens, and which its `input` is typed into; its one output is `stdout`. */
  readonly terminal?: Terminal & { readonly python: string }
  /** Called with each piece of output. Until it completes, no more is read. */
  readonly onOutput: (stream: OutputChunk["stream"], bytes: Uint8Array) => Effect.Effect<void>
}

/** The exit code of a command whose time was up. */
const timedOutCode = 124
/** The output is kept here; what the runner keeps as well is not used. */
const minCapture = 1024

/** The beginning of a stream. */
class Beginning {
  private readonly pieces: Array<Uint8Array> = []
  private left: number

  constructor(maxBytes: number) {
    this.left = maxBytes
  }

  push(bytes: Uint8Array): void {
    if (this.left === 0) return
    // A copy: the platform may reuse the memory of the piece.
    const piece = bytes.slice(0, this.left)
    this.left -= piece.length
    this.pieces.push(piece)
  }

  /** The text, without a character that is cut at the end. */
  get text(): string {
    const decoder = new TextDecoder()
    const texts = this.pieces.map((piece) => decoder.decode(piece, { stream: true }))
    return texts.join("")
  }
}

const namesOf = (
  variables: ClientCommand["variables"],
): { readonly set: Record<string, string>; readonly removed: ReadonlyArray<string> } => {
  const set: Record<string, string> = {}
  const removed: Array<string> = []
  for (const [name, value] of Object.entries(variables)) {
    if (value === null) removed.push(name)
    else set[name] = value
  }
  return { set, removed }
}

/** The command as it is started: one with a terminal by way of the program that opens it. */
const launched = ({ terminal, ...command }: ClientCommand): Omit<ClientCommand, "terminal"> =>
  terminal === undefined
    ? command
    : {
        ...command,
        argv: inTerminal(terminal.python, command.argv, terminal.size),
        variables: { TERM: "xterm-256color", ...command.variables },
        input: terminalInput(command.input ?? Stream.empty, terminal.sizes),
      }

/** Runs the command. Fails when it never ran; how it ended is in the result. */
export const run = Effect.fnUntraced(function* (
  parts: OneOff.OneOffServices,
  command: ClientCommand,
): Effect.fn.Return<OneOff.OneOffResult, OneOff.OneOffFailed> {
  const { maxOutputBytes, onOutput, variables, ...what } = launched(command)
  const kept = { stdout: new Beginning(maxOutputBytes), stderr: new Beginning(maxOutputBytes) }
  const { removed, set } = namesOf(variables)
  const { exit } = yield* OneOff.start(parts, {
    ...what,
    variables: set,
    withoutVariables: removed,
    maxOutputBytes: minCapture,
    onChunk: ({ bytes, stream }) =>
      Effect.suspend(() => {
        kept[stream].push(bytes)
        return onOutput(stream, bytes)
      }),
  })
  const exitCode = exit._tag === "TimedOut" ? timedOutCode : OneOff.exitCodeOf(exit)
  return { exitCode, stdout: kept.stdout.text, stderr: kept.stderr.text }
})
