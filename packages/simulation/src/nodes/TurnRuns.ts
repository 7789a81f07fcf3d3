/**
 * The turns of a run that a second caller waits for: it runs the message of a client, with the same id, through another node
 * than the client sends it to, and records how the turn ended. When its node is lost it tries the others, like a client.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { TurnRun } from "@colloquy/core/listeners/TurnRun"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { answerOf } from "../trace/AnswerOf.ts"
import type { Node } from "./Node.ts"
import type { NodeAction } from "./NodePlan.ts"
import type { NodeRecorder } from "./NodeRecorder.ts"
import { askAny } from "./Placement.ts"

type Send = Extract<NodeAction, { readonly do: "send" }>

/** What a second caller needs of the run. */
interface Place {
  readonly nodes: ReadonlyArray<Node>
  readonly recorder: NodeRecorder
}

/** The arguments of `submit` and `runTurn` for a message of a client. */
export const messageOf = ({ id, text, whileRunning }: Send): Parameters<Conversation["submit"]> => [
  { type: "user_input", items: [{ type: "text", text }] },
  { whileRunning, ...(id === undefined ? {} : { id }) },
]

/** What the trace has of a turn that was run. */
const outcomeOf = ({ end, receipt }: TurnRun) => ({
  receipt,
  ...(end === undefined ? {} : { end: { seq: end.seq, type: end.msg.type } }),
})

const runThrough = (
  { nodes, recorder }: Place,
  call: number,
  conversation: string,
  action: Send,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* recorder.record({ at: "turnRun", call, conversation })
    let tries = 0
    const exit = yield* Effect.exit(
      askAny(nodes, {
        first: action.node + 1,
        isRepeatable: true,
        // A turn takes its time, and its caller wants to know its end.
        isPatient: true,
        use: (manager) =>
          Effect.flatMap(manager.refer(conversation), (found) =>
            found.runTurn(...messageOf(action)),
          ),
        tries: () => {
          tries++
        },
      }),
    )
    const answer = answerOf(Exit.map(exit, outcomeOf))
    yield* recorder.record({ at: "turnRan", call, conversation, tries, answer })
  })

/** All waits for the ends of turns in one run. */
export class TurnRuns {
  private readonly fibers: Array<Fiber.Fiber<void>> = []
  private open = 0

  /** True when no caller waits any more. */
  get areOver(): boolean {
    return this.open === 0
  }

  /** Runs the message of a client beside its call, until the turn has ended or `end`. Resolves at once. */
  start(place: Place, call: number, conversation: string, action: Send): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.open++
      const running = Effect.ensuring(
        runThrough(place, call, conversation, action),
        Effect.sync(() => void this.open--),
      )
      return Effect.map(Effect.forkDetach(running), (fiber) => void this.fibers.push(fiber))
    })
  }

  /** Ends every wait that is open. */
  get end(): Effect.Effect<void> {
    return Effect.suspend(() => Fiber.interruptAll(this.fibers))
  }
}
