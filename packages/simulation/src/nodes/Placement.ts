/** Finds a node that answers: a client tries the node that it chose, then the others in turn, until one does or its time is up. */
import { type ConversationUnavailable, holderOf, isGone } from "@colloquy/core/ConversationErrors"
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Node } from "./Node.ts"
import type { NodeGone } from "./Process.ts"

/** A node did not answer in the time that a client waits for one. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly node: string }> {}

/** How long a client waits for the answer of one node. */
const answerWithin = Duration.seconds(12)

/** How long a client tries all nodes: longer than any fault of a plan and the lease after it. */
const tryForMs = 60_000

/** Pause of a client between two tries. */
const between = Duration.millis(400)

/** What a client knows after a failed try. */
type Verdict =
  /** The call had an effect or will not have one: it is over. */
  | "final"
  /** It had no effect. */
  | "without effect"
  /** It may have had an effect. */
  | "unknown"

const tagOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : ""

/** What a client may conclude from an error. */
const verdictOf = (error: unknown): Verdict => {
  const tag = tagOf(error)
  if (typeof error === "object" && error !== null && "_tag" in error) {
    if (holderOf({ ...error, _tag: tag }) !== undefined) return "without effect"
  }
  switch (tag) {
    case "ManagerClosed":
      return "without effect"
    case "NodeGone":
    case "NoAnswer":
    case "StoreError":
    case "ConversationClosed":
      return "unknown"
    case "ConversationUnavailable":
      return isGone(error as ConversationUnavailable) ? "final" : "unknown"
    default:
      return "final"
  }
}

/** Sends a call to one node, and gives up when it does not answer. */
export const ask = <A, E>(
  node: Node,
  use: (manager: ConversationManager["Service"]) => Effect.Effect<A, E>,
): Effect.Effect<A, E | NodeGone | NoAnswer> =>
  Effect.timeoutOrElse(node.call(use), {
    duration: answerWithin,
    orElse: () => Effect.fail(new NoAnswer({ node: node.name })),
  })

/** A call as a client sends it. */
export interface Asked<A, E> {
  /** The node that it tries first. */
  readonly first: number
  /** True where the call may be sent again although an earlier try may have had an effect. */
  readonly isRepeatable: boolean
  /** True where the response of a node may take any time, and the nodes are tried until one carries the call out. */
  readonly isPatient?: boolean
  readonly use: (manager: ConversationManager["Service"]) => Effect.Effect<A, E>
  /** Called before each try. */
  readonly tries: () => void
}

/** Sends a call to one node after the other until one carries it out, or it fails for good, or the time is up. */
export const askAny = <A, E>(
  nodes: ReadonlyArray<Node>,
  { first, isPatient, isRepeatable, tries, use }: Asked<A, E>,
): Effect.Effect<A, E | NodeGone | NoAnswer> =>
  Effect.gen(function* () {
    const endMs = isPatient ? Infinity : (yield* Clock.currentTimeMillis) + tryForMs
    for (let at = first; ; at++) {
      const node = nodes[at % nodes.length]
      if (node === undefined) return yield* Effect.die(new Error("there is no node"))
      tries()
      const result = yield* Effect.result(isPatient ? node.call(use) : ask(node, use))
      if (result._tag === "Success") return result.success
      const verdict = verdictOf(result.failure)
      const mayRepeat = verdict === "without effect" || (verdict === "unknown" && isRepeatable)
      if (!mayRepeat || (yield* Clock.currentTimeMillis) >= endMs) {
        return yield* Effect.fail(result.failure)
      }
      yield* Effect.sleep(between)
    }
  })
