/**
 * Renders the body of a streamed reply as server-sent events of both wires (packages/docs/wire/providers.md). Pure: the
 * same script gives the same bytes (L12).
 */
import type * as Duration from "effect/Duration"
import * as Frames from "./internal/ProviderFrames.ts"
import type { ProviderReply, ProviderWire } from "./ProviderScript.ts"

/** One action of a server with the body of a reply. */
export type ProviderAction =
  | { readonly _tag: "Write"; readonly text: string }
  | { readonly _tag: "Wait"; readonly duration: Duration.Duration }
  | { readonly _tag: "Drop" }
  | { readonly _tag: "Hang" }

/**
 * The actions of a server with the body of a streamed reply. Frames without a delay between them are one write, so that
 * tens of thousands of deltas need few packets; a `delay` of zero divides them.
 */
export const render = (
  wire: ProviderWire,
  { steps, usage }: Extract<ProviderReply, { readonly _tag: "Stream" }>,
): ReadonlyArray<ProviderAction> => {
  const actions: Array<ProviderAction> = []
  const frames = wire === "responses" ? Frames.responses() : Frames.chat()
  let pending = frames.open
  const flush = () => {
    if (pending.length > 0) actions.push({ _tag: "Write", text: pending })
    pending = ""
  }
  for (const step of steps) {
    switch (step._tag) {
      case "Delay":
        flush()
        actions.push({ _tag: "Wait", duration: step.duration })
        break
      case "End":
        flush()
        return actions
      case "Drop":
      case "Hang":
        flush()
        actions.push({ _tag: step._tag })
        return actions
      default:
        pending += frames.step(step)
    }
  }
  pending += frames.close(usage)
  flush()
  return actions
}
