/**
 * Decides whether the response to a `tools/call` is a task, and creates that task. In 2025-11-25 the client requests a
 * task and gets it at once. In 2026-07-28 the server decides, for a client that declares tasks and a tool that supports
 * them: a call that ends within `taskAfter` and asks nothing is answered with its result (`DeferredTask`). Decides nothing
 * about the tool. Keeps L2: the work of a task that is created at once starts when the response that names it was accepted.
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

/** The requested time to live in milliseconds; null for ever, absent for the default. */
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

/** The task that the client requests (2025-11-25); undefined when the response is the tool's result. */
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

/**
 * Whether the server may respond with a task (2026-07-28): the client declares tasks, and the call does not resume work
 * of an earlier call, which continues in the call.
 */
const mayDecide = ({ client, continuation }: RequestContext): boolean =>
  continuation?.resumed?.state === undefined &&
  missingIn(client.capabilities, tasksCapability) === undefined

/** Runs the tool and resolves with its result or with a task. */
export type CallOrTask = (
  call: ToolRun,
  context: RequestContext,
  /** `params.task` of the call, unread. */
  task: unknown,
) => Effect.Effect<CallToolResult | OtherResult, JsonRpcError | InputRequired>

/** How long a person believes that a silent call still works; clients time out after 60 s. */
const defaultTaskAfter: Duration.Input = "20 seconds"

class TaskCalls {
  private readonly tasks: Tasks["Service"]
  private readonly taskAfter: Duration.Input
  private readonly isDeferred: boolean
  private readonly connection: Scope.Scope

  constructor(tasks: Tasks["Service"], taskAfter: Duration.Input, connection: Scope.Scope) {
    this.tasks = tasks
    this.taskAfter = taskAfter
    this.isDeferred = Duration.toMillis(taskAfter) > 0
    this.connection = connection
  }

  /** 2025-11-25: a task where the client requests one. */
  handshake(call: ToolRun, context: RequestContext, task: unknown): ReturnType<CallOrTask> {
    const wanted = wantedByClient(call.tool, context, task)
    if (wanted._tag === "Failure") return Effect.fail(wanted.failure)
    return wanted.success === undefined
      ? call.tool.invoke(call.args, context)
      : Effect.mapError(this.create(call, context, wanted.success), tooManyTasks)
  }

  /** 2026-07-28: a task where the server decides for one. */
  stateless(call: ToolRun, context: RequestContext): ReturnType<CallOrTask> {
    const { args, tool } = call
    const { taskSupport = "forbidden" } = tool
    if (taskSupport === "forbidden") return tool.invoke(args, context)
    if (mayDecide(context)) return this.decide(call, context)
    return taskSupport === "optional"
      ? tool.invoke(args, context)
      : Effect.andThen(context.requires(tasksCapability), tool.invoke(args, context))
  }

  /** Creates a task at once; its work starts when the response that names it was accepted. */
  private create(
    { args, tool }: ToolRun,
    context: RequestContext,
    wanted: Wanted,
    prepared?: Option.Option<unknown>,
  ) {
    return Effect.gen({ self: this }, function* () {
      const accepted = Deferred.makeUnsafe<ResponseDelivery>()
      let created: Task | undefined
      const notify = Effect.suspend(() => this.notifyConnection(context, created))
      // Before the task exists: a call that is cancelled before its response leaves no task, as no client knows it.
      context.afterAnswer(
        Effect.asVoid(Effect.andThen(Deferred.succeed(accepted, "accepted"), notify)),
        (sent) => Deferred.doneUnsafe(accepted, Effect.succeed(sent ? "unknown" : "unsent")),
      )
      created = yield* this.tasks.create({
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
      return createdResult(created, yield* Clock.currentTimeMillis, context.era)
    })
  }

  private notifyConnection(context: RequestContext, task: Task | undefined) {
    return task === undefined || context.era === "stateless"
      ? Effect.void
      : Effect.forkIn(notifyStatus(this.tasks, context, task), this.connection)
  }

  private deferred(
    { args, tool }: ToolRun,
    context: RequestContext,
    prepared: Option.Option<unknown>,
  ) {
    return Effect.scoped(
      Effect.flatMap(this.tasks.reserve(context.principal), (reservation) =>
        callThenTask(context, {
          reservation,
          taskAfter: this.taskAfter,
          run: (inside) => tool.invoke(args, inside, prepared),
        }),
      ),
    )
  }

  /** The client did not request a task, so `prepare` runs in the call itself. */
  private decide(call: ToolRun, context: RequestContext): ReturnType<CallOrTask> {
    return Effect.gen({ self: this }, function* () {
      const { args, tool } = call
      const first = yield* tool.prepare?.(args, context) ?? Effect.undefined
      if (first?._tag === "Failure") return first.failure
      const prepared = first === undefined ? Option.none() : Option.some(first.success)
      // A tool that requires tasks declares that waiting for its result is not worthwhile.
      const waits = this.isDeferred && tool.taskSupport === "optional"
      const response: Effect.Effect<CallToolResult | OtherResult, JsonRpcError | TooManyTasks> =
        waits ? this.deferred(call, context, prepared) : this.create(call, context, {}, prepared)
      return yield* Effect.catchTag(response, "TooManyTasks", (refused) =>
        // Without room for a task the call runs as an ordinary one, if the tool allows it.
        tool.taskSupport === "optional"
          ? tool.invoke(args, context, prepared)
          : Effect.fail(tooManyTasks(refused)),
      )
    })
  }
}

/**
 * The calls of one connection. While it is open it is notified of the status of the tasks that its calls became
 * (2025-11-25).
 *
 * @param taskAfter how long a call of 2026-07-28 waits for its result; with 0 such a call becomes a task at once
 */
export const make = (
  tasks: Tasks["Service"],
  taskAfter: Duration.Input = defaultTaskAfter,
): Effect.Effect<CallOrTask, never, Scope.Scope> =>
  Effect.map(Effect.scope, (connection): CallOrTask => {
    const calls = new TaskCalls(tasks, taskAfter, connection)
    return (call, context, task) =>
      context.era === "stateless"
        ? calls.stateless(call, context)
        : calls.handshake(call, context, task)
  })
