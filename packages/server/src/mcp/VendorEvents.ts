/**
 * Whether and how a connection is told of events beyond the specification: `codex/event`, or nothing, or, as the oldest
 * generation did it, each event twice (§1.8). Decides no event's content.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { bareEvent } from "@colloquy/protocol/mcp/BareEvent"
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../Peer.ts"
import type { Members, RequestContext } from "./RequestContext.ts"
import type { Session } from "./Session.ts"

/** `twice`: every event once more under its bare name, for clients of 0.20 that read that one. */
export type VendorEvents = "on" | "off" | "twice"

/** `experimental["codex/event"]`: `false`, or an object with `enabled: false`. Anything else asks for nothing. */
export const declinesEvents = (capabilities: Members): boolean => {
  const declared = member(capabilities["experimental"], CodexEvent._tag)
  return declared === false || member(declared, "enabled") === false
}

/** The name of the events among the extensions of a client (2026-07-28). */
export const eventsExtension = "colloquy/codex-event"

/** Without a handshake a client gets what it asks for: as an experiment, or as an extension. */
const asksEvents = (capabilities: Members): boolean =>
  !declinesEvents(capabilities) &&
  [
    member(capabilities["experimental"], CodexEvent._tag),
    member(capabilities["extensions"], eventsExtension),
  ].some((declared) => declared !== undefined)

/** What this request's client is told of. */
export const eventsOf = (
  session: Pick<Session, "events" | "offered">,
  { client, era }: Pick<RequestContext, "client" | "era">,
): VendorEvents => {
  if (era === "handshake") return session.events()
  return asksEvents(client.capabilities) ? session.offered : "off"
}

const member = (of: unknown, name: string): unknown =>
  typeof of === "object" && of !== null && Object.hasOwn(of, name)
    ? Reflect.get(of, name)
    : undefined

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
      return once(peer)
    case "twice":
      return twice(peer)
  }
}
