/** `tasks/list` (2025-11-25): lists the tasks of the client's principal, oldest first, one page per request. */
import type { TasksList as TasksListMethod } from "@colloquy/protocol/mcp/Tasks"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { Cursors } from "../catalog/Cursors.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { handshakeTask } from "../tasks/TaskShapes.ts"

/** The name of the list. Its cursors are bound to this name and to the principal. */
const list = "tasks"

/** The handler of `tasks/list`. */
export const tasksList =
  (
    tasks: Tasks["Service"],
    cursors: Cursors,
  ): CoreHandler<Params<typeof TasksListMethod>, ResultOf<typeof TasksListMethod>> =>
  ({ cursor }, context) =>
    Effect.gen(function* () {
      const [after = 0] = (yield* cursors.open(list, cursor, context)) ?? []
      const page = yield* tasks.list(context.principal, Number(after))
      const nowMs = yield* Clock.currentTimeMillis
      const result = { tasks: page.tasks.map((task) => handshakeTask(task, nowMs)) }
      return page.next === undefined
        ? result
        : { ...result, nextCursor: yield* cursors.seal(list, [page.next], context) }
    })
