/**
 * Delivers what a command prints while it runs, as `exec_command_output_delta` events: in pieces of a useful size, in
 * order of arrival, and no more than 10,000 of them. Holds one piece at a time, so its memory is bounded whatever the
 * listener does; while a listener is slow, the caller of `push` waits. Never changes what is kept of the output.
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

/** Pieces of one call at most, as in the original. Later output is still in the result. */
const maxPieces = 10_000

/** How long output waits for more output: short enough to appear immediate to a person. */
const gatherTime = Duration.millis(50)

/** The output of one command, on its way to the listeners. */
export interface OutputDeltas {
  /** Adds a chunk of any size, in the order of the calls. Waits while a listener is slow. */
  readonly push: (chunk: OutputChunk) => Effect.Effect<void>
  /** Sends what is still gathered. To be called when the command has ended, before its end event. */
  readonly flush: Effect.Effect<void>
}

/** The piece being gathered, and the number of pieces sent. */
class Piece {
  stream: OutputChunk["stream"] = "stdout"
  readonly bytes = new Uint8Array(maxPieceBytes)
  length = 0
  sent = 0
  /** True while the end of `gatherTime` is awaited. */
  waiting = false

  /** Takes as many bytes as there is room for, and returns their number. */
  take(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, maxPieceBytes - this.length)
    this.bytes.set(taken, this.length)
    this.length += taken.length
    return taken.length
  }
}

/** Gathers and sends the output of one command. */
class Gatherer implements OutputDeltas {
  private readonly callId: string
  private readonly emit: (msg: EventMsg) => Effect.Effect<void>
  private readonly scope: Scope.Scope
  private readonly turn = Semaphore.makeUnsafe(1)
  private readonly piece = new Piece()
  readonly flush: Effect.Effect<void>

  constructor(callId: string, emit: (msg: EventMsg) => Effect.Effect<void>, scope: Scope.Scope) {
    this.callId = callId
    this.emit = emit
    this.scope = scope
    this.flush = this.turn.withPermit(this.send())
  }

  readonly push = (chunk: OutputChunk): Effect.Effect<void> =>
    Effect.suspend(() =>
      this.piece.sent < maxPieces ? this.turn.withPermit(this.gather(chunk)) : Effect.void,
    )

  private gather({ bytes, stream }: OutputChunk): Effect.Effect<void> {
    const { piece } = this
    return Effect.gen({ self: this }, function* () {
      if (piece.stream !== stream) yield* this.send()
      piece.stream = stream
      for (let at = 0; at < bytes.length && piece.sent < maxPieces;) {
        at += piece.take(bytes.subarray(at))
        if (piece.length === maxPieceBytes) yield* this.send()
      }
      yield* this.sendLater()
    })
  }

  private send(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { piece } = this
      if (piece.length === 0) return Effect.void
      const chunk = Base64.encode(piece.bytes.subarray(0, piece.length))
      piece.length = 0
      piece.sent++
      return this.emit({
        type: "exec_command_output_delta",
        call_id: this.callId,
        stream: piece.stream,
        chunk,
      })
    })
  }

  /** Sends what is gathered once `gatherTime` is over; one such wait is in progress at a time. */
  private sendLater(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { piece } = this
      if (piece.length === 0 || piece.waiting) return Effect.void
      piece.waiting = true
      const sent = Effect.suspend(() => {
        piece.waiting = false
        return this.send()
      })
      return Effect.sleep(gatherTime).pipe(
        Effect.andThen(this.turn.withPermit(sent)),
        Effect.forkIn(this.scope, { startImmediately: true }),
        Effect.asVoid,
      )
    })
  }
}

/** Deltas of one call. What is still gathered when the scope closes is not sent. */
export const make = (
  callId: string,
  emit: (msg: EventMsg) => Effect.Effect<void>,
): Effect.Effect<OutputDeltas, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => new Gatherer(callId, emit, scope))
