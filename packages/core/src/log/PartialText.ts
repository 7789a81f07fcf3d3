/**
 * The text so far of items still being streamed. A listener that attaches in mid-item gets it as one delta, so
 * that what it concatenates is always the whole text (design §4). Pieces are joined only when somebody asks.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"

type TextDelta = Extract<
  EventMsg,
  {
    readonly type:
      | "agent_message_delta"
      | "agent_reasoning_delta"
      | "agent_reasoning_raw_content_delta"
  }
>

const isTextDelta = (msg: EventMsg): msg is TextDelta =>
  msg.type === "agent_message_delta" ||
  msg.type === "agent_reasoning_delta" ||
  msg.type === "agent_reasoning_raw_content_delta"

/** Which streamed texts a durable event completes. */
const completes = (msg: EventMsg): ReadonlyArray<TextDelta["type"]> => {
  switch (msg.type) {
    case "agent_message":
      return ["agent_message_delta"]
    case "agent_reasoning":
    case "agent_reasoning_section_break":
      return ["agent_reasoning_delta"]
    case "agent_reasoning_raw_content":
      return ["agent_reasoning_raw_content_delta"]
    case "stream_error":
    // The response is complete: a text that no item repeated must not run into the next one.
    case "token_count":
    case "task_complete":
    case "turn_aborted":
      return ["agent_message_delta", "agent_reasoning_delta", "agent_reasoning_raw_content_delta"]
    default:
      return []
  }
}

export class PartialTexts {
  /** Undefined while nothing is being streamed: most conversations are idle. */
  private pieces: Map<TextDelta["type"], { id: string; texts: Array<string> }> | undefined

  add(id: string, msg: EventMsg): void {
    if (isTextDelta(msg)) {
      const pieces = (this.pieces ??= new Map())
      const partial = pieces.get(msg.type)
      if (partial === undefined) pieces.set(msg.type, { id, texts: [msg.delta] })
      else partial.texts.push(msg.delta)
      return
    }
    if (this.pieces === undefined) return
    for (const type of completes(msg)) {
      // The end of a submission that only waited says nothing of the turn that runs.
      if (this.pieces.get(type)?.id === id) this.pieces.delete(type)
    }
    if (this.pieces.size === 0) this.pieces = undefined
  }

  /** One delta per text in progress. */
  current(): ReadonlyArray<{ readonly id: string; readonly msg: EventMsg }> {
    return [...(this.pieces ?? [])].map(([type, { id, texts }]) => ({
      id,
      msg: { type, delta: texts.join("") },
    }))
  }
}
