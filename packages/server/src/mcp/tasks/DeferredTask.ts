/**
 * A call whose work becomes a task only when that helps the client: when it takes longer than `taskAfter`, or asks the
 * client something.
 *
 *     waiting ── the work ends ────────────────► response: its result
 *        │  └─── the request is cancelled ─────► the work is interrupted, no response
 *        │ `taskAfter` has passed, or a question
 *        ▼
 *     response: the task ── accepted ──────────► the work continues as the task, which asks its questions
 *           └────────────── not accepted ──────► the work is interrupted; no task runs that the client does not know
 *
 * The work runs once. Keeps L1, L2 (a question follows the response that names the task) and L8: while the call waits the
 * work belongs to the request and ends with it, also when the connection ends, because no client could ask for the task.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { NewTask, ResponseDelivery, TaskControl, TaskReservation } from "../../tasks/Tasks.ts"
import type { InputRequired, OtherResult, RequestContext } from "../RequestContext.ts"
import { contextInTask, runAfter, type TaskContext } from "./TaskContext.ts"
import { createdResult } from "./TaskShapes.ts"

type Ran = Effect.Effect<CallToolResult, JsonRpcError | InputRequired>

/** A call that may become the reserved task. */
export interface DeferredCall {
  readonly reservation: TaskReservation
  /** How long the response waits for the result before it names the task. */
  readonly taskAfter: Duration.Input
  readonly run: (context: RequestContext) => Ran
}

/** The control of a task that may never be created: questions wait for the task, and the last message is kept for it. */
const makeDraft = (id: string) => {
  const created = Deferred.makeUnsafe<TaskControl>()
  const asked = Deferred.makeUnsafe<void>()
  let message: string | undefined
  const control: TaskControl = {
    id,
    ask: (questions) =>
      Effect.andThen(
        Deferred.succeed(asked, undefined),
        Effect.flatMap(Deferred.await(created), ({ ask }) => ask(questions)),
      ),
    setMessage: (words) =>
      Effect.suspend(() => {
        message = words
        return Deferred.isDoneUnsafe(created)
          ? Effect.flatMap(Deferred.await(created), ({ setMessage }) => setMessage(words))
          : Effect.void
      }),
  }
  return {
    control,
    /** Resolves when the work has asked a question. */
    asked: Deferred.await(asked),
    message: () => message,
    /** Connects the work to the created task. */
    become: (task: TaskControl) =>
      Effect.andThen(
        message === undefined ? Effect.void : task.setMessage(message),
        Deferred.succeed(created, task),
      ),
  }
}

type Draft = ReturnType<typeof makeDraft>

/** The task in which the work continues once the response was accepted. */
const newTask = (
  call: RequestContext,
  inside: TaskContext,
  work: Fiber.Fiber<CallToolResult, JsonRpcError>,
  draft: Draft,
): Omit<NewTask, "principal"> => {
  const accepted = Deferred.makeUnsafe<ResponseDelivery>()
  const stop = Fiber.interrupt(work)
  // Before the task is created: a call that is cancelled before its response was accepted leaves none.
  call.afterAnswer(Deferred.succeed(accepted, "accepted").pipe(Effect.asVoid), (sent) =>
    Deferred.doneUnsafe(accepted, Effect.succeed(sent ? "unknown" : "unsent")),
  )
  const message = draft.message()
  return {
    ...(message === undefined ? {} : { message }),
    delivery: Deferred.await(accepted).pipe(
      Effect.tap((beginning) => (beginning === "accepted" ? Effect.void : stop)),
      Effect.onInterrupt(() => stop),
    ),
    run: (control) =>
      Effect.andThen(draft.become(control), Fiber.join(work)).pipe(
        Effect.onInterrupt(() => stop),
        Effect.ensuring(runAfter(inside)),
      ),
  }
}

/** Runs the call and resolves with its result, or with the task that it has become. */
export const callThenTask = (
  call: RequestContext,
  { reservation, run, taskAfter }: DeferredCall,
): Effect.Effect<CallToolResult | OtherResult, JsonRpcError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const draft = makeDraft(reservation.id)
      let waiting = true
      const inside = contextInTask(call, draft.control, () => waiting)
      const work = yield* run(inside.context).pipe(
        Effect.catchTag("InputRequired", (required) => Effect.die(required)),
        Effect.forkDetach({ startImmediately: true }),
      )
      const due = Effect.raceFirst(Effect.sleep(taskAfter), draft.asked)
      yield* restore(Effect.raceFirst(Fiber.await(work), due)).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(work)),
      )
      // A result that arrived at the last moment takes precedence over the task.
      const ended = work.pollUnsafe()
      if (ended !== undefined) {
        const after = inside.afterAnswer()
        if (after !== undefined) call.afterAnswer(...after)
        return yield* ended
      }
      waiting = false
      const task = yield* reservation.create(newTask(call, inside, work, draft))
      return createdResult(task, yield* Clock.currentTimeMillis, call.era)
    }),
  )
