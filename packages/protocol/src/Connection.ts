/**
 * A connection: a pair of channels of JSON texts, one text per message, and nothing more.
 *
 * Transports make one (stdio, memory, later HTTP and WebSocket); the Peer and the client use one.
 * Both directions are bounded: a peer that does not read slows its sender and costs no memory (L6).
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Envelope } from "./EnvelopeScan.ts"
import type { RequestId } from "./JsonRpc.ts"

/** What the transport knows about the program at the other end. */
export interface ConnectionPeer {
  /** On whose behalf it acts: decides which conversations, tasks and resources it can see. */
  readonly principal: string
  /** Headers of the HTTP request that opened the connection, by their names in lower case. Absent on other transports. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The principal of a connection to the user who started the process: that of standard streams. Conversations that have no
 * owner recorded belong to it.
 */
export const localPrincipal = "local"

/** The peer at the other end of a connection that only the user who started the process can open. */
export const localPeer: ConnectionPeer = { principal: localPrincipal }

/** What a transport may need to know about the messages that it sends. */
export interface SendOptions {
  /**
   * Id of the request of the peer that the messages belong to: its response, or a notification or request that serving it
   * caused before that response. Absent for messages that belong to no request in flight. Over HTTP it chooses the stream.
   */
  readonly relatedTo?: RequestId
}

/** One incoming unit: a text, or the reason why there is none. The connection continues after a fault (L13). */
export type Frame =
  | { readonly _tag: "Text"; readonly text: string }
  /** A line of `bytes` bytes, discarded because it is longer than `maxBytes`. */
  | {
      readonly _tag: "TooLong"
      readonly bytes: number
      readonly maxBytes: number
      /** Name of the setting that sets `maxBytes`, where there is one. */
      readonly setting?: string
      /** What could be read of the message without keeping it. */
      readonly envelope?: Envelope
    }
  /** A line of `bytes` bytes that are not UTF-8, skipped. */
  | { readonly _tag: "NotUtf8"; readonly bytes: number }

/** Writing failed because the peer is gone or the connection is closed. */
export class ConnectionClosed extends Data.TaggedError("ConnectionClosed")<{
  readonly reason: string
}> {
  override get message() {
    return this.reason
  }
}

/** Two channels of JSON texts. */
export interface Connection {
  /** The same for the life of the connection. */
  readonly peer: ConnectionPeer
  /** The next frames in order of arrival, at least one; fails with `Done` once, at end of input. */
  readonly receive: Effect.Effect<ReadonlyArray<Frame>, Cause.Done>
  /**
   * Writes the texts in order, after everything sent before. Resolves when they are accepted, which takes as long as the
   * peer does not read. No text may contain a raw newline.
   */
  readonly send: (
    texts: ReadonlyArray<string>,
    options?: SendOptions,
  ) => Effect.Effect<void, ConnectionClosed>
  /**
   * As `send`, where the texts are accepted at once: true, or false when they would have to wait or the peer is gone, and
   * nothing was sent. Absent when the transport cannot know. A wrapper that replaces `send` replaces or removes it.
   */
  readonly sendNow?: (texts: ReadonlyArray<string>, options?: SendOptions) => boolean
  /** Resolves when everything sent was handed to the peer, or the peer is gone. */
  readonly flush: Effect.Effect<void>
  /**
   * Resolves when the peer has had time to read what was sent before, so that the next text is in a later write, and in
   * practice in a later read of the peer. Resolves at once when nothing was sent recently. Absent when the peer receives
   * every text by itself.
   */
  readonly apart?: Effect.Effect<void>
  /**
   * Resolves when the connection ends for another reason than the end of input, before or after it: the peer is gone, or
   * the server has to shut down. Pending work need not be awaited then.
   */
  readonly broken?: Effect.Effect<void>
  /**
   * To be used after the end of input: says why the peer is gone, for the error of what it did not answer, for example
   * with which code its process exited. Absent when the transport cannot know.
   */
  readonly whyEnded?: Effect.Effect<string>
}
