/** Attaches listeners, and notifies the conversation of those that can answer its questions (L7). */
import * as Effect from "effect/Effect"
import { answersOf } from "../approvals/Elicitation.ts"
import type { AttachOptions, Listeners } from "../listeners/Listeners.ts"
import type { Conversation } from "./ConversationHandle.ts"
import type { Inbox } from "./Inbox.ts"

/** As `Conversation.attach`, to these listeners of the conversation with this inbox. */
export const attachTo = (
  listeners: Listeners,
  inbox: Inbox,
  options: AttachOptions | undefined,
): ReturnType<Conversation["attach"]> => {
  const answers = answersOf(options?.answers)
  if (answers === undefined) return listeners.attach(options)
  const attend = (by: 1 | -1) => inbox.send({ input: { _tag: "ListenersChanged", by, answers } })
  const entering = Effect.suspend(() => listeners.enter(options))
  return Effect.acquireRelease(
    Effect.tap(entering, () => attend(1)),
    (listener) => Effect.map(attend(-1), () => listeners.leave(listener)),
  )
}
