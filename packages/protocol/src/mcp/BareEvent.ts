/**
 * The second notification of every event for clients of version 0.20: the parameters of `codex/event` in a notification named
 * after the event's type. There is one definition per event type; they are not methods of the dialect. The wire:
 * packages/docs/wire/codex-mcp.md.
 */
import { eventTypes } from "../EventMsg.ts"
import { lazily } from "../internal/Lazily.ts"
import { notification } from "../Method.ts"
import { CodexEvent } from "./CodexMcp.ts"

const define = (type: string) =>
  notification(type, {
    params: CodexEvent.payloadSchema,
    unchecked: true,
    since: "0.20",
    until: "0.25",
    doc: "The event of the preceding `codex/event`, in a notification named after its type.",
  })

/** Made with the first one: only clients of version 0.20 get them. */
const bareEvents = lazily(
  () => new Map<string, ReturnType<typeof define>>(eventTypes.map((type) => [type, define(type)])),
)

/** The notification for events of a type. */
export const bareEvent = (type: string) => bareEvents().get(type) ?? define(type)
