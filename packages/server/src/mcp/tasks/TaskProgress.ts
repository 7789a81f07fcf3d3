/** What the turn of a task is at, said as the status of the task, beside the progress of its call where it is told. */
import * as Effect from "effect/Effect"
import type { CallProgress } from "../codex/CallProgress.ts"
import type { TaskHandle } from "../RequestContext.ts"

export const taskProgress = (task: TaskHandle, told?: CallProgress): CallProgress => ({
  notify: (items) => {
    const said = items.at(-1)
    return said === undefined
      ? Effect.void
      : Effect.andThen(told?.notify(items) ?? Effect.void, task.say(said))
  },
  end: () => told?.end(),
})
