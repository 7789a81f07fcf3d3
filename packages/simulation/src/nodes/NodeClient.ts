/** Runs the actions of the clients of several nodes, and records each with its answer. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { answerOf } from "../trace/AnswerOf.ts"
import type { Followers } from "./Followers.ts"
import type { Node } from "./Node.ts"
import type { Surroundings } from "./Process.ts"
import type { NodeAction, NodesPlan } from "./NodePlan.ts"
import type { NodeRecorder } from "./NodeRecorder.ts"
import { askAny } from "./Placement.ts"
import { messageOf, type TurnRuns } from "./TurnRuns.ts"

/** What the clients of one run share. */
export interface NodesContext extends Surroundings {
  readonly plan: NodesPlan
  readonly nodes: ReadonlyArray<Node>
  readonly recorder: NodeRecorder
  readonly followers: Followers
  readonly turnRuns: TurnRuns
  /** The conversation that was last created for each slot. */
  readonly slots: Map<number, string>
}

type Use = (manager: ConversationManager["Service"]) => Effect.Effect<unknown, unknown>

/** Id of a conversation that does not exist. */
const noConversation = "00000000-0000-7000-8000-0000000000ff"

/** What an action does at a node; undefined for one that does nothing there. */
const useOf = (
  context: NodesContext,
  action: NodeAction,
  conversation: string,
): Use | undefined => {
  switch (action.do) {
    case "create":
      return (manager) => Effect.map(manager.create(context.settings), ({ id }) => id)
    case "send":
      return (manager) =>
        Effect.flatMap(manager.get(conversation), (found) => found.submit(...messageOf(action)))
    case "interrupt":
      return (manager) =>
        Effect.flatMap(manager.get(conversation), (found) => found.submit({ type: "interrupt" }))
    case "fork":
      return (manager) =>
        Effect.map(
          manager.fork(conversation, { _tag: "DropLastUserMessages", n: action.n }),
          ({ id }) => id,
        )
    case "archive":
      return (manager) => manager.archive(conversation)
    case "unarchive":
      return (manager) => manager.unarchive(conversation)
    case "rename":
      return (manager) => manager.rename(conversation, action.name)
    case "list":
      return (manager) =>
        Effect.map(manager.list({ limit: 1000 }), ({ items }) => items.map(({ id }) => id))
    case "follow":
    case "pause":
      return undefined
  }
}

/** Puts a conversation that was created into its slot. */
const enter = (
  { recorder, slots }: NodesContext,
  slot: number,
  answer: unknown,
): Effect.Effect<void> => {
  const id = String(answer)
  slots.set(slot, id)
  recorder.own(id, slot)
  return recorder.record({ at: "made", conversation: id })
}

/** Whether sending an action twice has the effect of sending it once. */
const isRepeatable = (action: NodeAction): boolean =>
  action.do !== "send" || action.id !== undefined

const perform = (
  context: NodesContext,
  action: NodeAction,
  conversation: string | undefined,
  tries: () => void,
): Effect.Effect<unknown, unknown> => {
  if (action.do === "pause") return Effect.sleep(Duration.millis(action.ms))
  if (action.do === "follow") {
    if (conversation === undefined) return Effect.void
    return context.followers.follow(context, conversation, action)
  }
  const use = useOf(context, action, conversation ?? noConversation) ?? (() => Effect.void)
  const asked = askAny(context.nodes, {
    first: action.node,
    isRepeatable: isRepeatable(action),
    use,
    tries,
  })
  switch (action.do) {
    case "create":
      return Effect.tap(asked, (id) => enter(context, action.slot, id))
    case "fork":
      return Effect.tap(asked, (id) => enter(context, action.into, id))
    default:
      return asked
  }
}

/** True for a message that is also run through another node. */
const isRunAlso = (
  { plan }: NodesContext,
  action: NodeAction,
): action is Extract<NodeAction, { readonly do: "send" }> =>
  plan.cluster?.runsTurns === true && action.do === "send" && action.id !== undefined

/** Runs an action, and records it with its answer. */
export const operate = (context: NodesContext, client: string, action: NodeAction) =>
  Effect.gen(function* () {
    const { recorder, slots } = context
    const call = recorder.nextCall()
    const conversation = "slot" in action ? slots.get(action.slot) : undefined
    yield* recorder.record({ at: "nodeCall", client, call, conversation, action })
    if (conversation !== undefined && isRunAlso(context, action)) {
      yield* context.turnRuns.start(context, call, conversation, action)
    }
    let tries = 0
    const exit = yield* Effect.exit(
      perform(context, action, conversation, () => {
        tries++
      }),
    )
    const answer = answerOf(exit)
    yield* recorder.record({ at: "nodeAnswer", call, conversation, tries, answer })
  })

/** Runs all clients. Resolves when every client has finished its actions. */
export const runClients = (context: NodesContext): Effect.Effect<void> =>
  Effect.forEach(
    context.plan.clients,
    (actions, i) =>
      Effect.forEach(actions, (action) => operate(context, `c${i}`, action), { discard: true }),
    { concurrency: "unbounded", discard: true },
  )
