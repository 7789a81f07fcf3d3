/**
 * Whether a `tools/call` is answered with a task, and the task that it is answered with. In 2025-11-25 the client asks for
 * one and gets it at once; in 2026-07-28 the server decides, for a client that declares tasks and a tool that may be one:
 * a call that ends within `taskAfter` and asks nothing is answered with its result (`DeferredTask`). Decides nothing about
 * the tool. Keeps L2: the work of a task that is made at once begins when the response that names it was accepted.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Tool } from "../../features/Tool.ts"
import type { Task } from "../../tasks/Task.ts"
import type { TooManyTasks } from "../../tasks/TaskBook.ts"
import type { ResponseDelivery, Tasks } from "../../tasks/Tasks.ts"
import type * as Scope from "effect/Scope"
import { notifyStatus } from "./TaskStatusNotices.ts"
import type { InputRequired, OtherResult, RequestContext } from "../RequestContext.ts"
import { isMembers, missingIn } from "../eras/Capabilities.ts"
import { callThenTask } from "./DeferredTask.ts"
import { contextInTask, runAfter } from "./TaskContext.ts"
import {
  clientRequestsTasks as asksForTasks,
  tasksCapability,
  invalidParams,
  tooManyTasks,
} from "./TaskRequests.ts"
import { createdResult } from "./TaskShapes.ts"

/** A tool and the arguments of its call, not decoded yet. */
interface ToolRun {
  readonly tool: Tool
  readonly args: unknown
}

/** A wanted life in milliseconds; null for ever, undefined when it is not said. */
interface Wanted {
  readonly ttlMs?: number | null
}

const notAs = (name: string, how: string) =>
  Result.fail(new JsonRpcError({ code: ErrorCode.methodNotFound, message: `tool ${name} ${how}` }))

const readWanted = (task: unknown): Result.Result<Wanted, JsonRpcError> => {
  if (!isMembers(task)) return Result.fail(invalidParams("task: expected an object"))
  const { ttl } = task
  if (ttl === undefined) return Result.succeed({})
  return ttl === null || (typeof ttl === "number" && Number.isFinite(ttl) && ttl >= 0)
    ? Result.succeed({ ttlMs: ttl })
    : Result.fail(invalidParams("task.ttl: expected milliseconds, 0 or more"))
}

/** Undefined: the call is answered with its result. */
const wantedByClient = (
  { name, taskSupport = "forbidden" }: Tool,
  context: RequestContext,
  task: unknown,
): Result.Result<Wanted | undefined, JsonRpcError> => {
  const wanted = asksForTasks(context) && task !== undefined && task !== null
  if (wanted && taskSupport === "forbidden") return notAs(name, "cannot be called as a task")
  if (!wanted && taskSupport === "required") return notAs(name, "can only be called as a task")
  return wanted ? readWanted(task) : Result.succeed(undefined)
}

/** The server makes one wherever the client takes it, but of work that the call has begun: that goes on in it. */
const mayDecide = ({ client, rounds }: RequestContext): boolean =>
  rounds?.resumed?.state === undefined &&
  missingIn(client.capabilities, tasksCapability) === undefined

export type CallOrTask = (
  call: ToolRun,
  context: RequestContext,
  /** `params.task` of the call, unread. */
  task: unknown,
) => Effect.Effect<CallToolResult | OtherResult, JsonRpcError | InputRequired>

/** As long as a person takes a silent call for a working one; clients give up after 60 s. */
const defaultTaskAfter: Duration.Input = "20 seconds"

/**
 * Of one connection: it is told of the status of the tasks that its calls became, while it is there (2025-11-25).
 *
 * @param taskAfter how long a call of 2026-07-28 waits for its result; 0: such a call is a task at once
 */
export const make = (
  tasks: Tasks["Service"],
  taskAfter: Duration.Input = defaultTaskAfter,
): Effect.Effect<CallOrTask, never, Scope.Scope> =>
  Effect.map(Effect.scope, (connection) => {
    const isDeferred = Duration.toMillis(taskAfter) > 0

    const begin = Effect.fnUntraced(function* (
      { args, tool }: ToolRun,
      context: RequestContext,
      wanted: Wanted,
      prepared?: Option.Option<unknown>,
    ) {
      const accepted = Deferred.makeUnsafe<ResponseDelivery>()
      let made: Task | undefined
      const tell = Effect.suspend(() =>
        made === undefined || context.era === "stateless"
          ? Effect.void
          : Effect.forkIn(notifyStatus(tasks, context, made), connection),
      )
      // Before there is a task: a call that is taken back before its answer leaves none, nobody knows of it.
      context.afterAnswer(
        Effect.asVoid(Effect.andThen(Deferred.succeed(accepted, "accepted"), tell)),
        (sent) => Deferred.doneUnsafe(accepted, Effect.succeed(sent ? "unknown" : "unsent")),
      )
      made = yield* tasks.create({
        principal: context.principal,
        ...wanted,
        delivery: Deferred.await(accepted),
        run: (control) => {
          const inside = contextInTask(context, control)
          return tool.invoke(args, inside.context, prepared).pipe(
            Effect.catchTag("InputRequired", (required) => Effect.die(required)),
            Effect.ensuring(runAfter(inside)),
          )
        },
      })
      return createdResult(made, yield* Clock.currentTimeMillis, context.era)
    })

    const asked = (call: ToolRun, context: RequestContext, wanted: Wanted) =>
      Effect.mapError(begin(call, context, wanted), tooManyTasks)

    const deferred = (
      { args, tool }: ToolRun,
      context: RequestContext,
      prepared: Option.Option<unknown>,
    ) =>
      Effect.scoped(
        Effect.flatMap(tasks.reserve(context.principal), (reservation) =>
          callThenTask(context, {
            reservation,
            taskAfter,
            run: (inside) => tool.invoke(args, inside, prepared),
          }),
        ),
      )

    /** Nobody asked for a task, so what comes before it is a call like any other. */
    const decided = Effect.fnUntraced(function* (call: ToolRun, context: RequestContext) {
      const { args, tool } = call
      const first = yield* tool.prepare?.(args, context) ?? Effect.undefined
      if (first?._tag === "Failure") return first.failure
      const prepared = first === undefined ? Option.none() : Option.some(first.success)
      // A tool that has to be a task says that its result is not worth waiting for.
      const waits = isDeferred && tool.taskSupport === "optional"
      const answer: Effect.Effect<CallToolResult | OtherResult, JsonRpcError | TooManyTasks> = waits
        ? deferred(call, context, prepared)
        : begin(call, context, {}, prepared)
      return yield* Effect.catchTag(answer, "TooManyTasks", (refused) =>
        // The server decides, and without room it decides against a task.
        tool.taskSupport === "optional"
          ? tool.invoke(args, context, prepared)
          : Effect.fail(tooManyTasks(refused)),
      )
    })

    return (call, context, task) => {
      const { args, tool } = call
      if (context.era !== "stateless") {
        const wanted = wantedByClient(tool, context, task)
        if (wanted._tag === "Failure") return Effect.fail(wanted.failure)
        return wanted.success === undefined
          ? tool.invoke(args, context)
          : asked(call, context, wanted.success)
      }
      const { taskSupport = "forbidden" } = tool
      if (taskSupport === "forbidden") return tool.invoke(args, context)
      if (mayDecide(context)) return decided(call, context)
      return taskSupport === "optional"
        ? tool.invoke(args, context)
        : Effect.andThen(context.requires(tasksCapability), tool.invoke(args, context))
    }
  })
