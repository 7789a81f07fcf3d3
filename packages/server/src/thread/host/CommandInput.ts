/**
 * What the standard input of a client's command reads. Bounded twice, because the command may never read it: further pieces wait
 * while 64 are not read, and a piece beyond 16 MiB of unread bytes is refused.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Done } from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { invalid } from "../../app/AppErrors.ts"
import { badValue } from "./HostErrors.ts"

/** Pieces that wait for the command to read them before a writer waits too. */
const maxPieces = 64
/** Bytes that the command has not read: those of a large file, and little beside the memory of the server. */
const maxBytes = 16 * 1024 * 1024

/** See the header. */
export class CommandInput {
  private readonly queue: Queue.Queue<Uint8Array, Done>
  /** Bytes that were written and not read, those of waiting writers included. */
  private unread = 0

  private constructor(queue: Queue.Queue<Uint8Array, Done>) {
    this.queue = queue
  }

  /** Creates an input that nothing was written to. */
  static readonly make: Effect.Effect<CommandInput> = Effect.map(
    Queue.bounded<Uint8Array, Done>(maxPieces),
    (queue) => new CommandInput(queue),
  )

  /** What the command reads. One reader. */
  get stream(): Stream.Stream<Uint8Array> {
    return Stream.fromQueue(this.queue).pipe(
      Stream.tap((bytes) => Effect.sync(() => (this.unread -= bytes.length))),
    )
  }

  /** Resolves once the piece waits to be read. Fails when the input is closed, and for more bytes than may wait. */
  write(bytes: Uint8Array): Effect.Effect<void, JsonRpcError> {
    return Effect.suspend(() => {
      const { unread } = this
      if (unread + bytes.length > maxBytes) {
        return Effect.fail(
          badValue(
            `deltaBase64: expected at most ${maxBytes} bytes that the command has not read; got ${bytes.length} with ${unread} unread`,
          ),
        )
      }
      this.unread += bytes.length
      const forget = Effect.sync(() => (this.unread -= bytes.length))
      return Queue.offer(this.queue, bytes).pipe(
        Effect.onInterrupt(() => forget),
        Effect.flatMap((taken) =>
          taken
            ? Effect.void
            : Effect.andThen(forget, Effect.fail(invalid("stdin is already closed"))),
        ),
      )
    })
  }

  /** Nothing more is written. */
  get end(): Effect.Effect<void> {
    return Effect.asVoid(Queue.end(this.queue))
  }

  /** Nothing is read any more: writers that wait fail. */
  get shutdown(): Effect.Effect<void> {
    return Effect.asVoid(Queue.shutdown(this.queue))
  }
}
