/**
 * Decides whether the messages to one peer have the member `jsonrpc`. The app-server of the original writes messages
 * without it since October 2025, and its clients read both forms; JSON-RPC libraries require the member.
 *
 *     undecided ── first frame that is a JSON object or array ──> "2.0" or "bare", as that frame is
 *
 * Messages that are sent before the decision have the member.
 */
import type { Frame } from "@colloquy/protocol/Connection"
import type { MessageForm } from "@colloquy/protocol/JsonRpc"

/** The form of a frame; undefined if the frame does not show one. */
const formOf = (frame: Frame): MessageForm | undefined => {
  if (frame._tag !== "Text") return undefined
  try {
    const value: unknown = JSON.parse(frame.text)
    if (typeof value !== "object" || value === null) return undefined
    return "jsonrpc" in value ? "2.0" : "bare"
  } catch {
    // The peer responds to the frame with a parse error.
    return undefined
  }
}

/** Whether the messages of a connection have the member `jsonrpc`. */
export class Envelope {
  /** The form of the messages to the peer. */
  form: MessageForm = "2.0"
  private isDecided: boolean

  /** @param adapts false: messages always have the member */
  constructor(adapts: boolean) {
    this.isDecided = !adapts
  }

  /** Decides on the form by the first of these frames that shows one. */
  observe(frames: ReadonlyArray<Frame>): void {
    for (const frame of frames) {
      if (this.isDecided) return
      const form = formOf(frame)
      if (form === undefined) continue
      this.form = form
      this.isDecided = true
    }
  }
}
