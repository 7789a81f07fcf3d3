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
import type { Members } from "./RequestContext.ts"

/** `twice`: every event once more under its bare name, for clients of 0.20 that read that one. */
export type VendorEvents = "on" | "off" | "twice"

/** `experimental["codex/event"]`: `false`, or an object with `enabled: false`. Anything else asks for nothing. */
export const declinesEvents = (capabilities: Members): boolean => {
  const declared = member(capabilities["experimental"], CodexEvent._tag)
  return declared === false || member(declared, "enabled") === false
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
