/** Carries out the clients' operations, all clients at once, and tells the trace each call and its answer. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { Op } from "@colloquy/protocol/Op"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { answerOf } from "../trace/AnswerOf.ts"
import { create, fork } from "./Scenarios.ts"
import type { Listeners } from "./Listeners.ts"
import { badPage, pages, yields } from "./Pages.ts"
import type { Action, Operation, Plan } from "./Plan.ts"
import type { Recorder } from "../trace/Recorder.ts"

export interface Surroundings {
  readonly manager: ConversationManager["Service"]
  readonly listeners: Listeners
  readonly recorder: Recorder
  readonly close: Effect.Effect<void>
}

/** What the operations of one run share. */
export interface World extends Surroundings {
  readonly plan: Plan
  readonly slots: Map<number, Conversation>
}

interface Client {
  readonly name: string
  /** Looks a conversation up by its id each time, instead of keeping it. */
  readonly looksUp: boolean
  /** What the last receipt named. */
  last: string
}

type Submit = Extract<Action, { readonly do: "submit" }>

const opOf = ({ what, text }: Submit): Op => {
  const items = [{ type: "text", text }] as const
  switch (what) {
    case "input":
      return { type: "user_input", items }
    case "turn":
      return {
        type: "user_turn",
        items,
        cwd: `/work/${text}`,
        approval_policy: "never",
        sandbox_policy: { mode: "read-only" },
        model: "scripted",
        summary: "auto",
      }
    case "empty":
      return { type: "user_input", items: [] }
    case "big":
      return { type: "user_input", items: Array.from({ length: 1_025 }, () => items[0]) }
    case "context":
      return { type: "override_turn_context", cwd: `/work/${text}` }
    case "unsupported":
      return { type: "list_custom_prompts" }
    case "compact":
    case "interrupt":
    case "shutdown":
      return { type: what }
  }
}

/** `held` is the conversation of the operation's slot when it was called. */
const perform = (
  world: World,
  client: Client,
  action: Action,
  held: Conversation | undefined,
  call: number,
): Effect.Effect<unknown, unknown> => {
  const { manager, listeners } = world
  /** A slot that nothing was created for has an id that nobody knows. */
  const id = held?.id ?? "nobody"
  const find = held === undefined || client.looksUp ? manager.get(id) : Effect.succeed(held)
  switch (action.do) {
    case "create":
      return Effect.uninterruptible(create(world, action.slot))
    case "fork":
      return Effect.uninterruptible(fork(world, call, id, action))
    case "submit":
      return Effect.flatMap(find, (conversation) =>
        Effect.tap(
          conversation.submit(opOf(action), {
            whileRunning: action.whileRunning,
            ...(action.id === undefined ? {} : { id: action.id }),
          }),
          ({ id }) => Effect.sync(() => (client.last = id)),
        ),
      )
    case "cancel":
      return Effect.flatMap(find, (conversation) =>
        Effect.as(
          Effect.asVoid(conversation.cancel(action.id ?? client.last)),
          action.id ?? client.last,
        ),
      )
    case "attach":
      return Effect.flatMap(find, (conversation) => listeners.attach(conversation, action))
    case "detach":
      return listeners.detach(action.listener)
    case "remove":
      return manager.remove(id)
    case "get":
      return Effect.map(manager.get(id), (found) => found.id)
    case "list":
      return Effect.map(manager.list({ limit: 1000 }), ({ items }) => items.map((item) => item.id))
    case "pages":
      return pages(manager, action)
    case "badPage":
      return badPage(manager, id, action.what)
    case "pause":
      return Effect.sleep(Duration.millis(action.ms))
    case "yield":
      return yields(action.times)
    case "close":
      return world.close
  }
}

/** Runs it until its caller gives up. */
const givenUp = (effect: Effect.Effect<unknown, unknown>, after: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* yields(after)
    yield* Fiber.interrupt(fiber)
    return yield* Fiber.await(fiber)
  })

const operate = (world: World, client: Client, operation: Operation) =>
  Effect.gen(function* () {
    const call = world.recorder.nextCall()
    const held = "slot" in operation ? world.slots.get(operation.slot) : undefined
    yield* world.recorder.record({
      at: "call",
      client: client.name,
      call,
      conversation: held?.id,
      operation,
    })
    const effect = Effect.suspend(() => perform(world, client, operation, held, call))
    const exit = yield* operation.giveUpAfter === undefined
      ? Effect.exit(effect)
      : givenUp(effect, operation.giveUpAfter)
    yield* world.recorder.record({ at: "answer", call, answer: answerOf(exit) })
  })

/** Returns when every client has done everything. */
export const runClients = (
  plan: Plan,
  surroundings: Surroundings,
  slots: ReadonlyMap<number, Conversation> = new Map(),
): Effect.Effect<void> => {
  const world: World = { ...surroundings, plan, slots: new Map(slots) }
  return Effect.forEach(
    plan.clients,
    (operations, i) => {
      const client: Client = { name: `c${i}`, looksUp: i % 2 === 1, last: "none" }
      return Effect.forEach(operations, (operation) => operate(world, client, operation), {
        discard: true,
      })
    },
    { concurrency: "unbounded", discard: true },
  )
}
