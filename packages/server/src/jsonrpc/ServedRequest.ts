/**
 * One request of the peer that is being served: the control that its handler gets, and the work before and after its
 * response. `InFlight` runs it.
 */
import type { SendOptions } from "@colloquy/protocol/Connection"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { RequestGate } from "./AnswerGate.ts"
import type { Slot } from "./Batch.ts"
import type { PeerControl, RequestCaller } from "./Caller.ts"
import type { InFlightRequest } from "./InFlight.ts"
import { controlOf, type PeerParts } from "./PeerParts.ts"

/** What serving one request needs. */
export interface ServedRequestOptions {
  readonly parts: PeerParts
  readonly id: RequestId
  readonly cancellable: boolean
  /** Its place among the responses to a batch, if it is part of one. */
  readonly slot: Slot | undefined
  /** Called when the request has ended. */
  readonly release: () => void
}

/** One request while it is served, until its response is sent. */
export class ServedRequest implements RequestCaller, InFlightRequest {
  readonly id: RequestId
  readonly requestId: RequestId
  readonly cancellable: boolean
  readonly slot: Slot | undefined
  readonly peer: PeerControl
  readonly afterAnswer: RequestCaller["afterAnswer"]
  readonly atEnd: RequestCaller["atEnd"]
  readonly hold: RequestCaller["hold"]
  /** Runs the handler; set before the request is started. */
  work: Effect.Effect<string> = Effect.never
  private readonly options: ServedRequestOptions
  private related: SendOptions | undefined
  private isSeparate = false
  private readonly gate: RequestGate

  constructor(options: ServedRequestOptions) {
    const { cancellable, id, parts, slot } = options
    this.options = options
    this.id = id
    this.requestId = id
    this.cancellable = cancellable
    this.slot = slot
    this.related = { relatedTo: id }
    this.gate = parts.gate.request()
    this.afterAnswer = this.gate.afterAnswer
    this.atEnd = this.gate.atEnd
    this.hold = this.gate.hold
    this.peer = controlOf(parts, () => this.related)
  }

  /** True while nothing was asked to run before, with or after the response. */
  get isPlain(): boolean {
    return !this.isSeparate && this.gate.isUnused
  }

  readonly separate = (): void => {
    this.isSeparate = true
  }

  before(): Effect.Effect<void> | undefined {
    return this.isSeparate ? this.options.parts.apart : undefined
  }

  onResponse(): Effect.Effect<void> | undefined {
    this.related = undefined
    return this.gate.accepted()
  }

  onEnd(sent: boolean): void {
    const { parts, release } = this.options
    this.related = undefined
    parts.atEnd(() => this.gate.ended(sent))
    parts.atEnd(release)
  }
}
