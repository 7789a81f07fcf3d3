/** Runs the operations of all clients concurrently, and records each call and its answer in the trace. */
import type { Conversation } from "@colloquy/core/Conversation"

import type { Op } from "@colloquy/protocol/Op"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { answerOf } from "../trace/AnswerOf.ts"
import { create, fork } from "./Scenarios.ts"
import type { OperationContext, Surroundings } from "./OperationContext.ts"
import { badPage, noConversation, pages, yields } from "./Pages.ts"
import type { Action, Operation, Plan } from "./Plan.ts"

interface Client {
  readonly name: string
  /** True for a client that gets a conversation by its id each time, instead of holding it. */
  readonly looksUp: boolean
  /** The id in the client's last receipt. */
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

const submit = (client: Client, conversation: Conversation, action: Submit) =>
  Effect.tap(
    conversation.submit(opOf(action), {
      whileRunning: action.whileRunning,
      ...(action.id === undefined ? {} : { id: action.id }),
    }),
    ({ id }) => Effect.sync(() => (client.last = id)),
  )

/** Resolves to the id that was cancelled. */
const cancel = (client: Client, conversation: Conversation, id: string | undefined) =>
  Effect.as(Effect.asVoid(conversation.cancel(id ?? client.last)), id ?? client.last)

const idsOf = (manager: OperationContext["manager"]) =>
  Effect.map(manager.list({ limit: 1000 }), ({ items }) => items.map(({ id }) => id))

/** Runs one action. `held` is the conversation that the slot held when the operation was called. */
const perform = (
  context: OperationContext,
  client: Client,
  action: Action,
  held: Conversation | undefined,
  call: number,
): Effect.Effect<unknown, unknown> => {
  const id = held?.id ?? noConversation
  const find = held === undefined || client.looksUp ? context.manager.get(id) : Effect.succeed(held)
  switch (action.do) {
    case "create":
      return Effect.uninterruptible(create(context, action.slot))
    case "fork":
      return Effect.uninterruptible(fork(context, call, id, action))
    case "submit":
      return Effect.flatMap(find, (conversation) => submit(client, conversation, action))
    case "cancel":
      return Effect.flatMap(find, (conversation) => cancel(client, conversation, action.id))
    case "attach":
      return Effect.flatMap(find, (found) => context.listeners.attach(found, action))
    case "detach":
      return context.listeners.detach(action.listener)
    case "remove":
      return context.manager.remove(id)
    case "get":
      return Effect.map(context.manager.get(id), (found) => found.id)
    case "list":
      return idsOf(context.manager)
    case "pages":
      return pages(context.manager, action)
    case "badPage":
      return badPage(context.manager, id, action.what)
    case "pause":
      return Effect.sleep(Duration.millis(action.ms))
    case "yield":
      return yields(action.times)
    case "close":
      return context.close
  }
}

/** Interrupts the effect after that many yields; resolves to its exit. */
const interruptedAfter = (effect: Effect.Effect<unknown, unknown>, after: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* yields(after)
    yield* Fiber.interrupt(fiber)
    return yield* Fiber.await(fiber)
  })

const operate = (context: OperationContext, client: Client, operation: Operation) =>
  Effect.gen(function* () {
    const call = context.recorder.nextCall()
    const held = "slot" in operation ? context.slots.get(operation.slot) : undefined
    yield* context.recorder.record({
      at: "call",
      client: client.name,
      call,
      conversation: held?.id,
      operation,
    })
    const effect = Effect.suspend(() => perform(context, client, operation, held, call))
    const exit = yield* operation.giveUpAfter === undefined
      ? Effect.exit(effect)
      : interruptedAfter(effect, operation.giveUpAfter)
    yield* context.recorder.record({ at: "answer", call, answer: answerOf(exit) })
  })

/** Runs all clients. Resolves when every client has finished its operations. */
export const runClients = (
  plan: Plan,
  surroundings: Surroundings,
  slots: ReadonlyMap<number, Conversation> = new Map(),
): Effect.Effect<void> => {
  const context: OperationContext = { ...surroundings, plan, slots: new Map(slots) }
  return Effect.forEach(
    plan.clients,
    (operations, i) => {
      const client: Client = { name: `c${i}`, looksUp: i % 2 === 1, last: "none" }
      return Effect.forEach(operations, (operation) => operate(context, client, operation), {
        discard: true,
      })
    },
    { concurrency: "unbounded", discard: true },
  )
}
