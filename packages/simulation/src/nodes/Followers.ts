/**
 * The followers of a run: each stays attached to its conversation wherever that moves. It attaches through one node after the
 * other, from the number behind the last event that it got, and records every durable event. Some answer questions, through
 * another node than they read from.
 */
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener } from "@colloquy/core/listeners/Listener"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { answerOf } from "../trace/AnswerOf.ts"
import type { Answering } from "../scenario/Plan.ts"
import type { Node } from "./Node.ts"
import type { NodeAction } from "./NodePlan.ts"
import type { NodeRecorder } from "./NodeRecorder.ts"
import { ask, askAny, NoAnswer } from "./Placement.ts"

/** How long a follower waits for an event before it tries another node: a node that was stopped says nothing. */
const patience = Duration.seconds(20)

/** Pause before it attaches again. */
const pause = Duration.millis(700)

type Follow = Extract<NodeAction, { readonly do: "follow" }>

/** What followers need of the run. */
interface Place {
  readonly nodes: ReadonlyArray<Node>
  readonly recorder: NodeRecorder
}

/** One follower while it exists. */
interface Follower extends Place {
  readonly name: string
  readonly conversation: string
  readonly answering: Answering | undefined
  /** Number of the next durable event. */
  next: number
  /** Number of the node that it attaches through next. */
  at: number
}

/** An attachment at a node. */
interface Attached {
  readonly listener: Listener
  readonly scope: Scope.Closeable
}

/** All followers of one run. */
export class Followers {
  private readonly all: Array<{ readonly follower: Follower; readonly fiber: Fiber.Fiber<void> }> =
    []

  /** Starts a follower, which follows until `end`. */
  follow(place: Place, conversation: string, action: Follow): Effect.Effect<void> {
    const follower: Follower = {
      nodes: place.nodes,
      recorder: place.recorder,
      name: action.follower,
      conversation,
      answering: action.answering,
      next: action.from,
      at: action.node,
    }
    return Effect.map(Effect.forkDetach(following(follower)), (fiber) => {
      this.all.push({ follower, fiber })
    })
  }

  /** True when every follower of the conversation got all events before this number. */
  haveAll(conversation: string, end: number): boolean {
    return this.all.every(
      ({ follower }) => follower.conversation !== conversation || follower.next >= end,
    )
  }

  /** Ends every follower. */
  get end(): Effect.Effect<void> {
    return Effect.suspend(() => Fiber.interruptAll(this.all.map(({ fiber }) => fiber)))
  }
}

const nodeOf = ({ at, nodes }: Follower): Node | undefined => nodes[at % nodes.length]

const following = (follower: Follower): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (true) {
      const node = nodeOf(follower)
      if (node === undefined) return
      const exit = yield* Effect.exit(through(follower, node))
      const answer = answerOf(exit)
      yield* follower.recorder.record({ at: "unfollowed", follower: follower.name, answer })
      follower.at++
      yield* Effect.sleep(pause)
    }
  })

/** Attaches through a node and reads until that fails. */
const through = (follower: Follower, node: Node): Effect.Effect<void, unknown> => {
  const { answering, conversation, name, next: from, recorder } = follower
  const answers = answering !== undefined
  const attaching = ask(node, (manager) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const followed = manager.follow(conversation, { from, answers })
      const listener = yield* Scope.provide(followed, scope).pipe(
        Effect.onError(() => Scope.close(scope, Exit.void)),
      )
      return { listener, scope }
    }),
  )
  return Effect.gen(function* () {
    const attached = yield* attaching
    const place = { follower: name, conversation, node: node.name, from }
    yield* recorder.record({ at: "following", ...place })
    yield* Effect.ensuring(reading(follower, node, attached), detach(node, attached))
  })
}

/** Detaches in the process, without waiting for it. */
const detach = (node: Node, { scope }: Attached): Effect.Effect<void> =>
  Effect.asVoid(Effect.forkDetach(Effect.ignore(node.call(() => Scope.close(scope, Exit.void)))))

const reading = (
  follower: Follower,
  node: Node,
  { listener }: Attached,
): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    while (true) {
      const deliveries = yield* Effect.timeoutOrElse(
        node.call(() => listener.take),
        {
          duration: patience,
          orElse: () => Effect.fail(new NoAnswer({ node: node.name })),
        },
      )
      yield* took(follower, deliveries)
    }
  })

const took = (
  follower: Follower,
  deliveries: ReadonlyArray<Delivery>,
): Effect.Effect<void, unknown> => {
  const events = deliveries.flatMap((delivery) =>
    delivery._tag === "Event" && !isEphemeral(delivery.event.msg) ? [delivery.event] : [],
  )
  const last = events.at(-1)
  if (last === undefined) return Effect.void
  follower.next = last.seq + 1
  const resolved = new Set(
    events.flatMap(({ msg }) => (msg.type === "approval_resolved" ? [msg.call_id] : [])),
  )
  const questions = events.flatMap(({ msg }) =>
    msg.type === "exec_approval_request" && !resolved.has(msg.call_id) ? [msg.call_id] : [],
  )
  return Effect.andThen(
    follower.recorder.record({ at: "got", follower: follower.name, events }),
    Effect.forEach(questions, (question) => reply(follower, question), { discard: true }),
  )
}

/** Answers a question through the next node, beside the reading. */
const reply = (follower: Follower, question: string): Effect.Effect<void> => {
  const { answering, conversation, name, nodes, recorder } = follower
  if (answering === undefined || answering === "silent") return Effect.void
  const answered = askAny(nodes, {
    first: follower.at + 1,
    isRepeatable: true,
    tries: () => {},
    use: (manager) =>
      Effect.flatMap(manager.get(conversation), (found) =>
        found.submit({ type: "exec_approval", id: question, decision: answering }),
      ),
  })
  return Effect.exit(answered).pipe(
    Effect.flatMap((exit) =>
      recorder.record({
        at: "replied",
        listener: name,
        conversation,
        question,
        decision: answering,
        answer: answerOf(exit),
      }),
    ),
    Effect.forkDetach,
    Effect.asVoid,
  )
}
