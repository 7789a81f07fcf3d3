/**
 * Whether and how a connection is told of events beyond the specification: `codex/event`, or nothing, or, as the oldest
 * generation did it, each event twice (§1.8). Decides no event's content.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { bareEvent } from "@colloquy/protocol/mcp/BareEvent"
import { CodexEvent, eventsExtension } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { Members, RequestContext } from "../RequestContext.ts"
import type { Session } from "../Session.ts"

/**
 * `on`: to clients with a handshake unless they decline, and to a request of 2026-07-28 that asks. `always`: also to
 * requests of 2026-07-28 that say nothing. `twice`: as `on`, each event once more under its bare name, for clients of 0.20.
 */
export type VendorEvents = "on" | "always" | "off" | "twice"

/** `false`, or an object with `enabled: false`, declines; null and absence say nothing; anything else asks. */
const wish = (declared: unknown): "asks" | "declines" | undefined => {
  if (declared === undefined || declared === null) return undefined
  return declared === false || memberOf(declared, "enabled") === false ? "declines" : "asks"
}

const asExperiment = (capabilities: Members) =>
  wish(memberOf(capabilities["experimental"], CodexEvent._tag))

/** Of a client with a handshake: only `experimental["codex/event"]` counts. */
export const declinesEvents = (capabilities: Members): boolean =>
  asExperiment(capabilities) === "declines"

/** What a request without a handshake says: as an experiment, or as an extension. Either declines for both. */
const wishOf = (capabilities: Members): ReturnType<typeof wish> => {
  const wishes = [
    asExperiment(capabilities),
    wish(memberOf(capabilities["extensions"], eventsExtension)),
  ]
  return wishes.find((one) => one === "declines") ?? wishes.find((one) => one === "asks")
}

/**
 * What this request's client is sent. Without a handshake a client that says nothing gets nothing: the specification asks
 * a server to keep to the core for a client that does not declare an extension, clients that do not know the notification
 * drop it, and each event costs them bytes.
 */
export const eventsOf = (
  session: Pick<Session, "events" | "offered">,
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

/** The events of one call that the client has not been told of yet. */
export interface EventSink {
  readonly add: (event: EventNotice) => void
  /** Tells of all of them in order. Interrupted, it goes on at the next run with what was not accepted yet. */
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

/** Each twin stands right behind its event, so they go one by one. */
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
