/** The parts that a peer and the requests that it serves share, and the `PeerControl` that handlers get. */
import type { Connection, SendOptions } from "@colloquy/protocol/Connection"
import type { Method } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { AnswerGate } from "./AnswerGate.ts"
import type { PeerControl } from "./Caller.ts"
import type { Envelope } from "./Envelope.ts"
import type { InFlight } from "./InFlight.ts"
import type { LazyLatch } from "./LazyLatch.ts"
import { notificationTexts, type Outgoing } from "./Outgoing.ts"

/** The parts of a peer, each with its own state. */
export interface PeerParts {
  readonly send: Connection["send"]
  /** See `Connection.sendNow`. */
  readonly sendNow: Connection["sendNow"]
  /** See `Connection.apart`. */
  readonly apart: Effect.Effect<void>
  readonly envelope: Envelope
  readonly outgoing: Outgoing
  readonly inFlight: InFlight
  /** The order between responses and what follows them (L2). */
  readonly gate: AnswerGate
  /** Opened at the end of input. */
  readonly ended: LazyLatch
  /** Work that the end of the connection waits for after the requests in flight. */
  readonly outlasting: Set<Effect.Effect<void>>
  /** Calls a function at the end of a fiber. A defect in it is logged, because it would end the process. */
  readonly atEnd: (callback: () => void) => void
}

/**
 * Creates the control of a peer.
 *
 * @param related the request that messages belong to at the time they are sent, if any
 */
export const controlOf = (
  { ended, envelope, gate, inFlight, outgoing, outlasting, send, sendNow }: PeerParts,
  related: () => SendOptions | undefined,
): PeerControl => ({
  notify: (method, params) =>
    Effect.suspend(() => {
      const definition = method as unknown as Method
      const { faults, texts } = notificationTexts(definition, params, envelope.form)
      const isSent = texts.length === 0 || sendNow?.(texts, related()) === true
      const sent = isSent ? Effect.void : send(texts, related())
      return faults.length === 0
        ? sent
        : Effect.andThen(
            Effect.logError(`notification ${definition._tag} not sent`, ...faults),
            sent,
          )
    }),
  request: (method, params, sent) =>
    outgoing.ask(method as unknown as Method, params, related, sent),
  cancel: (id, answer) => Effect.sync(() => inFlight.cancel(id, answer)),
  ended: ended.await,
  outlast: (work) => outlasting.add(work),
  passed: (key) => gate.passed(key),
})
