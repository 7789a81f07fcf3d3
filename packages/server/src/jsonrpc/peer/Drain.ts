/**
 * What a peer does at the end of input: lets the requests in flight and what outlasts them end within the grace, then
 * flushes the remaining messages and ends the connection (L9). Each step is bounded.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { Answers } from "../Answers.ts"
import { logDefect } from "../LogDefect.ts"
import type { PeerOptions } from "../PeerOptions.ts"
import type { PeerParts } from "../PeerParts.ts"

/** How long a slow reader, such as a pager or a script that works on each line, may take for the remaining messages. */
const flushBound = "5 seconds"

/** The parts of a peer that end with its input. */
export interface DrainedParts extends Pick<
  PeerParts,
  "ended" | "inFlight" | "outgoing" | "outlasting"
> {
  readonly connection: Connection
  readonly answers: Answers
  /** Makes all later sends to the connection fail. */
  readonly end: Effect.Effect<void>
}

type End = Pick<PeerOptions<Rpc.Any>, "beforeEnd" | "shutdownGrace">

/** Resolves when the connection has ended. */
export const drain = (
  { answers, connection, end, ended, inFlight, outgoing, outlasting }: DrainedParts,
  { beforeEnd, shutdownGrace = "500 millis" }: End,
): Effect.Effect<void> => {
  const works = Effect.suspend(() =>
    Effect.forEach(outlasting, (work) => logDefect("what outlasts the requests", work), {
      concurrency: "unbounded",
      discard: true,
    }),
  )
  const outlasted = Effect.raceFirst(works, connection.broken ?? Effect.never)
  const ending =
    beforeEnd === undefined
      ? Effect.void
      : Effect.timeoutOption(
          Effect.andThen(logDefect("what ends with the connection", beforeEnd), works),
          flushBound,
        )
  return Effect.andThen(ended.open, outgoing.close).pipe(
    Effect.andThen(inFlight.drain(shutdownGrace, outlasted)),
    Effect.andThen(ending),
    Effect.andThen(
      Effect.timeoutOption(Effect.andThen(answers.settled, connection.flush), flushBound),
    ),
    Effect.andThen(end),
    Effect.asVoid,
  )
}
