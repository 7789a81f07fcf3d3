/** Creates and forks the conversations of a run. Each gets its audit at once, unless the plan leaves it unaudited. */
import type { Conversation } from "@colloquy/core/Conversation"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import type { OperationContext } from "./OperationContext.ts"
import { auditOf } from "./Listeners.ts"
import { type Action, deadlineMs, killGraceMs } from "./Plan.ts"

/** The settings of every conversation. */
export const settings = scriptedSettings(
  { killGrace: Duration.millis(killGraceMs), approvalDeadline: Duration.millis(deadlineMs) },
  { streamMaxRetries: 1 },
)

/** Attaches the audit of a conversation: a listener from the first event on. */
export const audit = (
  { listeners }: Pick<OperationContext, "listeners">,
  conversation: Conversation,
) =>
  listeners.attach(conversation, {
    listener: auditOf(conversation.id),
    from: 0,
    maxEvents: 4096,
    reading: { how: "fast" },
  })

/** Puts a new conversation into its slot. */
const enter = (context: OperationContext, conversation: Conversation, slot: number) =>
  Effect.gen(function* () {
    context.slots.set(slot, conversation)
    if (!context.plan.store.unaudited.includes(slot)) yield* audit(context, conversation)
    return conversation.id
  })

/** Creates a conversation for a slot; resolves to its id. */
export const create = (context: OperationContext, slot: number) =>
  Effect.gen(function* () {
    const conversation = yield* context.manager.create(settings)
    context.recorder.own(conversation.id, slot)
    yield* context.recorder.record({ at: "made", conversation: conversation.id })
    return yield* enter(context, conversation, slot)
  })

/** Forks a conversation into a slot; resolves to the id of the new one. */
export const fork = (
  context: OperationContext,
  call: number,
  parent: string,
  { into, rule }: Extract<Action, { readonly do: "fork" }>,
) =>
  Effect.gen(function* () {
    const conversation = yield* context.manager.fork(parent, rule)
    context.recorder.own(conversation.id, into)
    const { id } = conversation
    yield* context.recorder.record({ at: "made", conversation: id })
    // No other client knows it yet. Where it has already left memory and cannot be loaded, every event it has is inherited.
    const seq = yield* Effect.match(conversation.state, {
      onFailure: () => Number.MAX_SAFE_INTEGER,
      onSuccess: (state) => state.seq,
    })
    yield* context.recorder.record({ at: "forked", call, conversation: id, parent, rule, seq })
    return yield* enter(context, conversation, into)
  })
