/** What a client declares about the vendor events in its capabilities. Pure. */
import { codexEvent, eventsExtension } from "@colloquy/protocol/mcp/Extensions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import type { Members } from "../RequestContext.ts"

type Wish = "asks" | "declines" | undefined

/** `false`, or an object with `enabled: false`, declines. Null and absence declare nothing, anything else asks. */
const wish = (declared: unknown): Wish => {
  if (declared === undefined || declared === null) return undefined
  return declared === false || memberOf(declared, "enabled") === false ? "declines" : "asks"
}

const asExperiment = (capabilities: Members): Wish =>
  wish(memberOf(capabilities["experimental"], codexEvent))

/** Whether a client with a handshake declines the events: only `experimental["codex/event"]` counts. */
export const declinesEvents = (capabilities: Members): boolean =>
  asExperiment(capabilities) === "declines"

/** What a request without a handshake declares, as experimental or as an extension. If either declines, both do. */
export const wishOf = (capabilities: Members): Wish => {
  const wishes = [
    asExperiment(capabilities),
    wish(memberOf(capabilities["extensions"], eventsExtension)),
  ]
  return wishes.find((one) => one === "declines") ?? wishes.find((one) => one === "asks")
}
