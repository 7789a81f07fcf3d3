/**
 * The context of a call whose work is a task: its questions are the task's, and what it tells goes out while somebody
 * may hear it: in 2025-11-25 with the name of the task, until the connection ends; in 2026-07-28 not at all, for the
 * stream of the call is over. The work goes on either way.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { infoOf, type Method } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../Peer.ts"
import type { TaskControl } from "../../tasks/Tasks.ts"
import type { InputRequest, RequestContext } from "../RequestContext.ts"
import { neededFor } from "../revision/Capabilities.ts"
import { metaOf } from "../revision/RequestMeta.ts"
import { logTo, progressTo } from "../revision/Tell.ts"
import { withRelated } from "./TaskShapes.ts"

/** Nobody listens: the call was answered, and its stream with it. */
const unheard: PeerControl["notify"] = () => Effect.void

const relatedNotify =
  ({ notify }: PeerControl, taskId: string): PeerControl["notify"] =>
  (method, params) => {
    const told = params.map((one) =>
      Object.assign({}, one, { _meta: withRelated(taskId, metaOf(one)) }),
    )
    return Effect.catch(notify(method, told), ({ reason }) =>
      // The work of a task needs no connection.
      Effect.logDebug(`task ${taskId} told nobody: ${reason}`),
    )
  }

const asksClient = (method: Method): boolean =>
  [Elicit, CreateMessage, RootsList].some(({ _tag }) => _tag === method._tag)

/** Where a handler asks the connection, the task asks instead. */
const taskPeer = (call: RequestContext, task: TaskControl): PeerControl => ({
  cancel: call.peer.cancel,
  notify: call.era === "stateless" ? unheard : relatedNotify(call.peer, task.id),
  request: ((method: Method, params: InputRequest["params"]) => {
    if (!asksClient(method)) return call.peer.request(method, params as never)
    const name = infoOf(method).capability ?? method._tag
    const question = { method: method._tag as InputRequest["method"], params: params ?? {} }
    return Effect.map(task.ask({ [name]: question }), (answers) => answers[name])
  }) as PeerControl["request"],
})

export interface TaskContext {
  readonly context: RequestContext
  /** What the work wanted to happen after its answer; the last given counts. */
  readonly after: Effect.Effect<void>
}

export const inTask = (call: RequestContext, task: TaskControl): TaskContext => {
  const peer = taskPeer(call, task)
  let after: Effect.Effect<void> = Effect.void
  const ask: RequestContext["ask"] = <K extends string>(
    asked: Readonly<Record<K, InputRequest>>,
  ): Effect.Effect<Readonly<Record<K, Readonly<Record<string, unknown>>>>, JsonRpcError> =>
    Effect.andThen(
      Effect.forEach(Object.values<InputRequest>(asked), (one) => call.requires(neededFor(one)), {
        discard: true,
      }),
      task.ask(asked),
    )
  const { rounds: _, ...rest } = call
  return {
    context: {
      ...rest,
      task: { id: task.id, say: task.say },
      peer,
      notify: peer.notify,
      progress: progressTo(peer, call.meta),
      log: logTo(peer, call.logLevel),
      ask,
      once: (_key, effect) => effect,
      afterAnswer: (effect) => {
        after = effect
      },
    },
    after: Effect.suspend(() => after),
  }
}
