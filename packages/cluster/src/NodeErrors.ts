/** Why a call did not reach the node that has a conversation. No client sees these errors: the caller tries again. */
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import * as Schema from "effect/Schema"

/** The node that was asked does not have the conversation and cannot load it now. Nothing of the call happened. */
export class Elsewhere extends Schema.TaggedError<Elsewhere>()("Elsewhere", {
  id: Schema.String,
  /** The lease that keeps the node from loading it. Absent where the node is leaving, or has just lost the conversation. */
  held: Schema.optionalKey(LeaseHeld),
}) {
  override get message() {
    return `conversation ${this.id} is moving to another node`
  }
}

/** The node that owns the conversation did not respond. What was asked may have happened or not. */
export class NodeUnreachable extends Schema.TaggedError<NodeUnreachable>()("NodeUnreachable", {
  id: Schema.String,
  /** For a person. */
  reason: Schema.String,
}) {
  override get message() {
    return `the node of conversation ${this.id} does not respond: ${this.reason}`
  }
}
