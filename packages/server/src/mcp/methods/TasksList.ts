/** `tasks/list` (2025-11-25): the caller's tasks, oldest first, page by page. */
import type { TasksList as TasksListMethod } from "@colloquy/protocol/mcp/Tasks"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { Cursors } from "../catalog/Cursors.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { handshakeTask } from "../tasks/TaskShapes.ts"

/** What its cursors are bound to, beside their owner. */
const list = "tasks"

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
      const told = { tasks: page.tasks.map((task) => handshakeTask(task, nowMs)) }
      return page.next === undefined
        ? told
        : { ...told, nextCursor: yield* cursors.seal(list, [page.next], context) }
    })
