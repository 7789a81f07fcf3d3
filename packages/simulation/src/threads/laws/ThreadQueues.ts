/** The queue of input of threads: each input starts one turn or is removed, and they start in their order. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import {
  ThreadQueueAdd,
  ThreadQueueStart,
  ThreadQueueUpdate,
} from "@colloquy/protocol/thread/ThreadChanges"
import { at } from "../../stateless/StatelessKnown.ts"
import {
  ephemeralThreads,
  inputText,
  param,
  type RunCheck,
  succeededOf,
  type ThreadHistory,
} from "./ThreadCheck.ts"

const storedEvents = ({ run }: ThreadHistory, threadId: unknown): ReadonlyArray<Event> =>
  run.batches.flatMap(({ id, records }) =>
    id === threadId
      ? records.flatMap((record) => (record._tag === "Event" ? [record.event] : []))
      : [],
  )

const lastQueue = (events: ReadonlyArray<Event>): ReadonlyArray<string> =>
  events.flatMap(({ msg }) => (msg.type === "queue_changed" ? [msg.ids] : [])).at(-1) ?? []

/** True for a thread of which something could not be recorded. */
const isLost = ({ connections }: ThreadHistory, threadId: unknown): boolean =>
  connections.some(({ failures }) => failures.some(({ conversation }) => conversation === threadId))

/** L5: input that was accepted for the queue starts one turn with its id, is removed, or is still queued. */
export const queuedInputIsKept: RunCheck = (history) => {
  const ephemeral = ephemeralThreads(history)
  return history.connections.flatMap((connection) =>
    succeededOf(connection).flatMap(({ request, response }) => {
      if (request.method !== ThreadQueueAdd._tag) return []
      const threadId = param(request, "threadId")
      const id = String(at(response.result, "queuedSubmission", "id"))
      if (ephemeral.has(threadId) || isLost(history, threadId)) return []
      const events = storedEvents(history, threadId)
      const own = events.filter((event) => event.id === id)
      const starts = own.filter(({ msg }) => msg.type === "task_started").length
      const ends = own.filter(({ msg }) => isTerminal(msg)).length
      const isQueued = lastQueue(events).includes(id)
      return starts <= 1 && ends === (isQueued ? 0 : 1)
        ? []
        : [`input ${id} of thread ${String(threadId)}: ${starts} starts, ${ends} ends`]
    }),
  )
}

/** The texts that clients gave queued input, by its id. */
const textsOf = ({ connections }: ThreadHistory): ReadonlyMap<string, ReadonlySet<string>> => {
  const texts = new Map<string, Set<string>>()
  const give = (id: unknown, text: string): void => {
    texts.set(String(id), (texts.get(String(id)) ?? new Set()).add(text))
  }
  for (const connection of connections) {
    for (const { request, response } of succeededOf(connection)) {
      if (request.method === ThreadQueueAdd._tag) {
        give(at(response.result, "queuedSubmission", "id"), inputText(request))
      }
    }
    // A client that reads nothing more may have changed the input all the same.
    for (const request of connection.sent) {
      if (request.method === ThreadQueueUpdate._tag) {
        give(param(request, "queuedSubmissionId"), inputText(request))
      }
    }
  }
  return texts
}

/** L5: a turn of queued input has the text that a client gave that input. */
export const queuedInputIsSent: RunCheck = (history) => {
  const texts = textsOf(history)
  return [...new Set(history.run.batches.map(({ id }) => id))].flatMap((threadId) =>
    storedEvents(history, threadId).flatMap(({ id, msg }, place, events) => {
      const known = texts.get(id)
      const isFirst = !events
        .slice(0, place)
        .some((one) => one.id === id && one.msg.type === "user_message")
      return msg.type === "user_message" &&
        known !== undefined &&
        isFirst &&
        !known.has(msg.message)
        ? [`turn ${id} of thread ${threadId} has the input "${msg.message}"`]
        : []
    }),
  )
}

/** L4: the first input in the queue starts first, unless a client starts another one. */
export const queueIsInOrder: RunCheck = (history) => {
  const chosen = new Set(
    history.connections.flatMap((connection) =>
      connection.sent.flatMap((request) =>
        request.method === ThreadQueueStart._tag ? [param(request, "queuedSubmissionId")] : [],
      ),
    ),
  )
  return [...new Set(history.run.batches.map(({ id }) => id))].flatMap((threadId) => {
    let before: ReadonlyArray<string> = []
    let queue: ReadonlyArray<string> = []
    return storedEvents(history, threadId).flatMap(({ id, msg }) => {
      if (msg.type === "queue_changed") {
        before = queue
        queue = msg.ids
        return []
      }
      if (msg.type !== "task_started" || chosen.has(id) || !before.includes(id)) return []
      return before[0] === id
        ? []
        : [`input ${id} of thread ${threadId} starts before ${String(before[0])}`]
    })
  })
}
