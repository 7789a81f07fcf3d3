/** How conversations of a run come to be: made, or forked from another. Each gets its audit at once. */
import type { Conversation } from "@colloquy/core/Conversation"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import type { World } from "./Clients.ts"
import { auditOf } from "./Listeners.ts"
import { type Action, deadlineMs, killGraceMs } from "./Plan.ts"

export const settings = scriptedSettings(
  { killGrace: Duration.millis(killGraceMs), approvalDeadline: Duration.millis(deadlineMs) },
  { streamMaxRetries: 1 },
)

/** Hears a conversation from its first event on. */
export const audit = ({ listeners }: Pick<World, "listeners">, conversation: Conversation) =>
  listeners.attach(conversation, {
    listener: auditOf(conversation.id),
    from: 0,
    maxEvents: 4096,
    reading: { how: "fast" },
  })

const enter = (world: World, conversation: Conversation, slot: number) =>
  Effect.gen(function* () {
    world.slots.set(slot, conversation)
    if (!world.plan.store.unheard.includes(slot)) yield* audit(world, conversation)
    return conversation.id
  })

export const create = (world: World, slot: number) =>
  Effect.gen(function* () {
    const conversation = yield* world.manager.create(settings)
    world.recorder.own(conversation.id, slot)
    yield* world.recorder.record({ at: "made", conversation: conversation.id })
    return yield* enter(world, conversation, slot)
  })

export const fork = (
  world: World,
  call: number,
  parent: string,
  { into, rule }: Extract<Action, { readonly do: "fork" }>,
) =>
  Effect.gen(function* () {
    const conversation = yield* world.manager.fork(parent, rule)
    world.recorder.own(conversation.id, into)
    const { id } = conversation
    yield* world.recorder.record({ at: "made", conversation: id })
    // Nobody else knows it yet. In the store already, and no room for it: all it has is what it began with.
    const seq = yield* Effect.match(conversation.state, {
      onFailure: () => Number.MAX_SAFE_INTEGER,
      onSuccess: (state) => state.seq,
    })
    yield* world.recorder.record({ at: "forked", call, conversation: id, parent, rule, seq })
    return yield* enter(world, conversation, into)
  })
