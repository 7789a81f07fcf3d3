/**
 * The prompt of `exec`: the argument, the standard input, or both. Without an argument, or with `-`, the input is what the
 * caller wants, and is waited for. With an argument it may be a pipe that nobody meant to write to: that is said, and waited
 * for with a limit.
 *
 *     argument, input ──first byte──▶ both
 *                     ──3 s: socket─▶ argument
 *                     ──3 s: pipe───▶ notice ──first byte──▶ both
 *                                            ──10 min──────▶ error
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExecFailed } from "./ExecFailed.ts"
import type { PromptInput } from "./StdinPrompt.ts"

/** Where the prompt comes from. */
export interface PromptSource {
  /** The argument; `-` means the standard input, and so does none. */
  readonly argument: string | undefined
  readonly input: PromptInput
  /** Writes one line on stderr. */
  readonly write: (line: string) => void
}

/** From here on a person wonders why nothing happens. */
const noticeAfter = Duration.seconds(3)

/** A slow command at the other end of a pipeline is no mistake: a build may write nothing for minutes. */
const failAfter = Duration.minutes(10)

const failed = (message: string) => new ExecFailed({ message })

const textOf = (bytes: Uint8Array): Effect.Effect<string, ExecFailed> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => failed("Failed to read prompt from stdin: it is not valid UTF-8"),
  })

const withInput = (argument: string, input: string): string =>
  input.trim() === "" ? argument : `${argument}\n\n<stdin>\n${input}\n</stdin>`

/** True if the input has begun within this time. */
const hasBegun = (input: PromptInput, within: Duration.Duration): Effect.Effect<boolean> =>
  Effect.raceFirst(Effect.as(input.begun, true), Effect.as(Effect.sleep(within), false))

/** The argument with the input that belongs to it. */
const both = Effect.fnUntraced(function* (
  argument: string,
  { input, write }: Pick<PromptSource, "input" | "write">,
) {
  write("Reading additional input from stdin...")
  const reading = yield* Effect.forkChild(input.read)
  if (!(yield* hasBegun(input, noticeAfter))) {
    if (input.kind === "socket") {
      write("Nothing has come from stdin: going on without it.")
      yield* Fiber.interrupt(reading)
      return argument
    }
    write("Still waiting for stdin, which is open: `</dev/null` gives none.")
    if (!(yield* hasBegun(input, failAfter))) {
      return yield* failed("Nothing has come from stdin: close it, or use `</dev/null`.")
    }
  }
  return withInput(argument, yield* textOf(yield* Fiber.join(reading)))
})

/** The prompt. Fails where there is none. */
export const promptOf = Effect.fnUntraced(function* ({
  argument,
  input,
  write,
}: PromptSource): Effect.fn.Return<string, ExecFailed> {
  if (argument !== undefined && argument !== "-") {
    const prompt = input.kind === "none" ? argument : yield* both(argument, { input, write })
    return prompt.trim() === "" ? yield* failed("The prompt is empty.") : prompt
  }
  if (argument === undefined && input.kind === "none") {
    return yield* failed("No prompt provided: give one as an argument, or write it to stdin.")
  }
  if (argument === undefined) write("Reading prompt from stdin...")
  const text = yield* textOf(yield* input.read)
  return text.trim() === "" ? yield* failed("No prompt provided via stdin.") : text
})
