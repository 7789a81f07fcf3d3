/**
 * Which events of a conversation a listener of the app-server receives, and in which shape. It follows from the `audience`
 * of the event's definition. Pure. The wire: packages/docs/wire/app-server.md.
 */
import { eventInfo, type EventMsg } from "@colloquy/protocol/EventMsg"
import { withFlatUsage } from "./McpEvents.ts"

/** What a listener asked for. */
export interface EventFormat {
  /** True: it receives raw events as well (`experimentalRawEvents`). */
  readonly raw: boolean
  /** True: it gave `after`. It is no client of the original, and accepts event types that those do not know. */
  readonly all: boolean
}

const isSent = ({ type }: EventMsg, { all, raw }: EventFormat): boolean => {
  switch (eventInfo(type).audience) {
    case "original":
      return true
    case "raw":
      return raw
    // A client of the original would show such a message twice, or fail on an event type that it does not know.
    case "codex-mcp":
    case "colloquy":
      return all
  }
}

/** The message as the listener receives it; undefined for an event that it does not receive. */
export const appServerEvent = (msg: EventMsg, format: EventFormat): EventMsg | undefined =>
  isSent(msg, format) ? withFlatUsage(msg) : undefined
