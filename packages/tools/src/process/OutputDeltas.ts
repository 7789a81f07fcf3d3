/**
 * Tells listeners what a command prints, while it prints it: in pieces of a useful size, in order of arrival, and no
 * more than a bounded number of them (§6.8). Holds one piece at a time, so its memory is bounded whatever the listener
 * does; while a listener takes its time, whoever pushes waits. Never touches what is kept of the output.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { OutputChunk } from "./Command.ts"

/** Bytes of a piece at most; the original reads as many at a time. */
const maxPieceBytes = 8 * 1024

/** Pieces of one call at most, as in the original; what follows is still in the result. */
const maxPieces = 10_000

/** How long output may wait for more: a person takes it for at once. */
const gatherTime = Duration.millis(50)

export interface OutputDeltas {
  /** Takes a chunk of any size. In the order of the calls; waits while a listener is slow. */
  readonly push: (chunk: OutputChunk) => Effect.Effect<void>
  /** Tells what is still held back; to be called when the command is over, before that is told. */
  readonly flush: Effect.Effect<void>
}

/** The piece being gathered, and how many were told. */
class Piece {
  stream: OutputChunk["stream"] = "stdout"
  readonly bytes = new Uint8Array(maxPieceBytes)
  length = 0
  told = 0
  /** True while the end of `gatherTime` is being waited for. */
  waiting = false

  /** Takes what there is room for; gives how much that was. */
  take(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, maxPieceBytes - this.length)
    this.bytes.set(taken, this.length)
    this.length += taken.length
    return taken.length
  }
}

/** Deltas of one call, `exec_command_output_delta`. What is held back when the scope ends is not told. */
export const make = (
  callId: string,
  emit: (msg: EventMsg) => Effect.Effect<void>,
): Effect.Effect<OutputDeltas, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const turn = yield* Semaphore.make(1)
    const piece = new Piece()

    const tell = Effect.suspend(() => {
      if (piece.length === 0) return Effect.void
      const chunk = Base64.encode(piece.bytes.subarray(0, piece.length))
      piece.length = 0
      piece.told++
      return emit({
        type: "exec_command_output_delta",
        call_id: callId,
        stream: piece.stream,
        chunk,
      })
    })

    const tellLater = Effect.suspend(() => {
      if (piece.length === 0 || piece.waiting) return Effect.void
      piece.waiting = true
      const told = Effect.suspend(() => {
        piece.waiting = false
        return tell
      })
      return Effect.forkIn(Effect.andThen(Effect.sleep(gatherTime), turn.withPermit(told)), scope, {
        startImmediately: true,
      })
    })

    const gather = Effect.fnUntraced(function* ({ bytes, stream }: OutputChunk) {
      if (piece.stream !== stream) yield* tell
      piece.stream = stream
      for (let at = 0; at < bytes.length && piece.told < maxPieces;) {
        at += piece.take(bytes.subarray(at))
        if (piece.length === maxPieceBytes) yield* tell
      }
      yield* tellLater
    })

    return {
      push: (chunk) =>
        Effect.suspend(() =>
          piece.told < maxPieces ? turn.withPermit(gather(chunk)) : Effect.void,
        ),
      flush: turn.withPermit(tell),
    }
  })
