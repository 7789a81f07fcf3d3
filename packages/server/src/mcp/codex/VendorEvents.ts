/**
 * Whether and how the client of a request gets the events that are beyond the specification: as `codex/event`, not at all,
 * or twice each, as in the oldest versions of the original. Decides nothing about the content of an event.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { bareEvent } from "@colloquy/protocol/mcp/BareEvent"
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { RequestContext } from "../RequestContext.ts"
import { wishOf } from "./EventWishes.ts"

/**
 * `on`: for clients with a handshake unless they decline, and for requests of 2026-07-28 that declare the extension.
 * `always`: also for requests of 2026-07-28 that declare nothing. `twice`: as `on`, and each event is sent once more with
 * its bare name as the method, for clients of version 0.20.
 */
export type VendorEvents = "on" | "always" | "off" | "twice"

/** The setting of the server, and what a connection with a handshake agreed on. */
interface EventsSetting {
  /** The setting, unless the client of the handshake declined. */
  readonly events: () => VendorEvents
  /** The setting. */
  readonly offered: VendorEvents
}

/**
 * What the client of this request gets. A request of 2026-07-28 that declares nothing gets no events: the specification
 * asks servers to keep to the core for a client that does not declare an extension, and clients that do not know the
 * notification would receive its bytes only to drop them.
 */
export const eventsOf = (
  session: EventsSetting,
  { client, era }: Pick<RequestContext, "client" | "era">,
): VendorEvents => {
  if (era === "handshake") return session.events()
  switch (wishOf(client.capabilities)) {
    case "asks":
      return session.offered
    case "declines":
      return "off"
    case undefined:
      return session.offered === "always" ? "always" : "off"
  }
}

type EventNotice = Params<typeof CodexEvent>

/** The events of one call that were not sent yet. */
export interface EventSink {
  /** Adds an event behind the others. Sends nothing. */
  readonly add: (event: EventNotice) => void
  /** Sends all of them in order. Interrupted, it continues at the next run with those that were not accepted. */
  readonly flush: Effect.Effect<void, ConnectionClosed>
}

const silent: EventSink = { add: () => {}, flush: Effect.void }

const once = (peer: PeerControl): EventSink => {
  let unsent: Array<EventNotice> = []
  return {
    add: (event) => unsent.push(event),
    flush: Effect.suspend(() =>
      unsent.length === 0
        ? Effect.void
        : Effect.map(peer.notify(CodexEvent, unsent), () => {
            unsent = []
          }),
    ),
  }
}

/** The second notification directly follows the first, so they are sent one by one. */
const twice = (peer: PeerControl): EventSink => {
  const unsent: Array<Effect.Effect<void, ConnectionClosed>> = []
  return {
    add: (event) =>
      unsent.push(
        peer.notify(CodexEvent, [event]),
        peer.notify(bareEvent(event.msg.type), [event]),
      ),
    flush: Effect.whileLoop({
      while: () => unsent.length > 0,
      body: () => unsent[0] ?? Effect.void,
      step: () => {
        unsent.shift()
      },
    }),
  }
}

/** The sink of a call whose client gets these events. */
export const sink = (events: VendorEvents, peer: PeerControl): EventSink => {
  switch (events) {
    case "off":
      return silent
    case "on":
    case "always":
      return once(peer)
    case "twice":
      return twice(peer)
  }
}
