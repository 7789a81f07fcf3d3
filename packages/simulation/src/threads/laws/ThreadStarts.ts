/** L3 for threads: what is about a thread follows the response that names it, and a start that fails leaves nothing. Pure. */
import { ThreadFork, ThreadResume, ThreadStart } from "@colloquy/protocol/thread/Threads"
import { at } from "../../stateless/StatelessKnown.ts"
import { notificationsOf, param, type RunCheck, succeededOf } from "./ThreadCheck.ts"

const starts: ReadonlyArray<string> = [ThreadStart._tag, ThreadFork._tag]

/** L3: a client is notified of nothing about a thread that it starts before the response that names it. */
export const namedFirst: RunCheck = ({ connections }) =>
  connections.flatMap((connection) =>
    succeededOf(connection).flatMap(({ request, response }) => {
      const isNew =
        starts.includes(request.method ?? "") ||
        (request.method === ThreadResume._tag && param(request, "history") !== undefined)
      const id = at(response.result, "thread", "id")
      if (!isNew) return []
      return notificationsOf(connection).flatMap((one) =>
        one.at < response.at && (param(one, "threadId") ?? param(one, "thread", "id")) === id
          ? [`${one.method} of thread ${String(id)} before the response that names it`]
          : [],
      )
    }),
  )

/** L3: every thread in the store was named by a response: a request that failed has left none. */
export const failureLeavesNothing: RunCheck = ({ connections, run }) => {
  if (!connections.every(({ whole }) => whole)) return []
  const named = new Set(
    connections.flatMap((connection) =>
      succeededOf(connection).map(({ response }) => at(response.result, "thread", "id")),
    ),
  )
  return [...new Set(run.batches.map(({ id }) => id))].flatMap((id) =>
    named.has(id) || run.deleted.has(id)
      ? []
      : [`thread ${id} is stored, and no response names it`],
  )
}
