/** What the checks of runs of clients of app-server v2 have in common. Pure. */
import type { ConnectionHistory, WireMessage } from "../../wire/WireHistory.ts"
import { isRequest, isResponse } from "../../wire/WireHistory.ts"
import { at } from "../../stateless/StatelessKnown.ts"
import type { ThreadClientPlan } from "../ThreadPlan.ts"
import type { ThreadRun } from "../ThreadWorld.ts"

/** Everything that happened on one connection. */
export type ThreadConnectionHistory = ConnectionHistory<ThreadClientPlan>

/** A run with what happened on each of its connections. */
export interface ThreadHistory {
  readonly run: ThreadRun
  readonly connections: ReadonlyArray<ThreadConnectionHistory>
}

/** Returns one text per violation; empty for a run that keeps the law. */
export type RunCheck = (history: ThreadHistory) => ReadonlyArray<string>

/** A member of a message's params. */
export const param = (message: WireMessage | undefined, ...path: ReadonlyArray<string>): unknown =>
  at(message?.params, ...path)

/** A request with its response. */
export interface Answered {
  readonly request: WireMessage
  readonly response: WireMessage
}

/** The requests of a connection that were answered, each with its response. */
export const answeredOf = ({
  received,
  sent,
}: ThreadConnectionHistory): ReadonlyArray<Answered> => {
  const responses = new Map(received.filter(isResponse).map((one) => [one.id, one]))
  return sent.filter(isRequest).flatMap((request) => {
    const response = responses.get(request.id)
    return response === undefined ? [] : [{ request, response }]
  })
}

/** Those that succeeded. */
export const succeededOf = (connection: ThreadConnectionHistory): ReadonlyArray<Answered> =>
  answeredOf(connection).filter(({ response }) => response.result !== undefined)

/** The notifications that a connection received. */
export const notificationsOf = ({
  received,
}: ThreadConnectionHistory): ReadonlyArray<WireMessage> =>
  received.filter((message) => message.method !== undefined && message.id === undefined)

/** The text of the first part of a request's input. */
export const inputText = (request: WireMessage): string => {
  const input = param(request, "input")
  return Array.isArray(input) ? String(at(input[0], "text")) : ""
}

/** Ids of the threads that are in memory only. */
export const ephemeralThreads = ({ connections }: ThreadHistory): ReadonlySet<unknown> =>
  new Set(
    connections.flatMap((connection) =>
      succeededOf(connection).flatMap(({ response }) =>
        at(response.result, "thread", "ephemeral") === true
          ? [at(response.result, "thread", "id")]
          : [],
      ),
    ),
  )

/** Names the turn that a notification is about; undefined for one that is about none. A fork has the turns of its source. */
export const turnOf = (message: WireMessage): string | undefined => {
  const id = param(message, "turn", "id") ?? param(message, "turnId")
  return id === undefined ? undefined : keyOf(message, id)
}

/** Names a part of the thread that a message is about. */
export const keyOf = (message: WireMessage, id: unknown): string =>
  `${String(param(message, "threadId"))} ${String(id)}`

/** True for a notification about an item. */
export const isItem = ({ method = "" }: WireMessage): boolean => method.startsWith("item/")
