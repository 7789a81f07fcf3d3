/** What the turn of a task is doing, as the status message of the task, in addition to the progress of its call. */
import * as Effect from "effect/Effect"
import type { CallProgress } from "../codex/CallProgress.ts"
import type { TaskHandle } from "../RequestContext.ts"

/** Notifies the task, and `progress` where the call named a token. */
export const taskProgress = (task: TaskHandle, progress?: CallProgress): CallProgress => ({
  notify: (items) => {
    const last = items.at(-1)
    return last === undefined
      ? Effect.void
      : Effect.andThen(progress?.notify(items) ?? Effect.void, task.say(last))
  },
  end: () => progress?.end(),
})
