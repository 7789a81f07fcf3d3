/**
 * The context of a call whose work is a task, or may become one: its questions are the task's. Notifications are sent in
 * 2025-11-25 with the id of the task, until the connection ends; in 2026-07-28 on the stream of the call, which ends with
 * the response that names the task. The work continues either way.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { infoOf, type Method } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { TaskControl } from "../../tasks/Tasks.ts"
import type { InputRequest, RequestContext } from "../RequestContext.ts"
import { neededFor } from "../eras/Capabilities.ts"
import { metaOf } from "../eras/RequestMeta.ts"
import { logTo, progressTo } from "../eras/RequestNotifications.ts"
import { withRelated } from "./TaskShapes.ts"

/** On the stream of the call while it is open. A send that fails after the response does not concern the work. */
const streamNotify =
  ({ notify }: PeerControl, isOpen: () => boolean): PeerControl["notify"] =>
  (method, params) =>
    Effect.suspend(() =>
      isOpen()
        ? Effect.catch(notify(method, params), (closed) =>
            isOpen() ? Effect.fail(closed) : Effect.void,
          )
        : Effect.void,
    )

const relatedNotify =
  ({ notify }: PeerControl, taskId: string): PeerControl["notify"] =>
  (method, params) => {
    const tagged = params.map((one) =>
      Object.assign({}, one, { _meta: withRelated(taskId, metaOf(one)) }),
    )
    return Effect.catch(notify(method, tagged), ({ reason }) =>
      // The work of a task continues without a connection.
      Effect.logDebug(`notification of task ${taskId} not sent: ${reason}`),
    )
  }

const asksClient = (method: Method): boolean =>
  [Elicit, CreateMessage, RootsList].some(({ _tag }) => _tag === method._tag)

/** Where a handler asks the connection, the task asks instead. */
const taskPeer = (call: RequestContext, task: TaskControl, isOpen: () => boolean): PeerControl => ({
  cancel: call.peer.cancel,
  passed: call.peer.passed,
  notify:
    call.era === "stateless" ? streamNotify(call.peer, isOpen) : relatedNotify(call.peer, task.id),
  request: ((method: Method, params: InputRequest["params"]) => {
    if (!asksClient(method)) return call.peer.request(method, params as never)
    const name = infoOf(method).capability ?? method._tag
    const question = { method: method._tag as InputRequest["method"], params: params ?? {} }
    return Effect.map(task.ask({ [name]: question }), (answers) => answers[name])
  }) as PeerControl["request"],
})

type AfterAnswer = Parameters<RequestContext["afterAnswer"]>

/** The context of work that is or may become a task. */
export interface TaskContext {
  /** For the tool's handler. */
  readonly context: RequestContext
  /** What the work asked to run after its response; the last given counts. Undefined when it asked for nothing. */
  readonly afterAnswer: () => AfterAnswer | undefined
}

/**
 * The context for the work of `task`, from the context of its call.
 *
 * @param isOpen whether the call still waits for its response (2026-07-28). Default: the response was sent.
 */
export const contextInTask = (
  call: RequestContext,
  task: TaskControl,
  isOpen: () => boolean = () => false,
): TaskContext => {
  const peer = taskPeer(call, task, isOpen)
  let after: AfterAnswer | undefined
  const ask: RequestContext["ask"] = <K extends string>(
    asked: Readonly<Record<K, InputRequest>>,
  ): Effect.Effect<Readonly<Record<K, Readonly<Record<string, unknown>>>>, JsonRpcError> =>
    Effect.andThen(
      Effect.forEach(Object.values<InputRequest>(asked), (one) => call.requires(neededFor(one)), {
        discard: true,
      }),
      task.ask(asked),
    )
  const { continuation: _, ...rest } = call
  return {
    context: {
      ...rest,
      task: { id: task.id, setStatus: task.setMessage },
      peer,
      notify: peer.notify,
      progress: progressTo(peer, call.meta),
      log: logTo(peer, call.logLevel),
      ask,
      once: (_key, effect) => effect,
      afterAnswer: (...given) => {
        after = given
      },
    },
    afterAnswer: () => after,
  }
}

/** Runs what the work asked for; the response of a task is its result, which is stored then. */
export const runAfter = ({ afterAnswer }: TaskContext): Effect.Effect<void> =>
  Effect.suspend(() => afterAnswer()?.[0] ?? Effect.void)
