/** L5 for threads: every turn that a response names ends. Pure. */
import { TurnCompleted } from "@colloquy/protocol/thread/Notifications"
import { TurnStart } from "@colloquy/protocol/thread/Turns"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { at } from "../../stateless/StatelessKnown.ts"
import { notificationsOf, param, type RunCheck, succeededOf } from "./ThreadCheck.ts"
import type { ThreadRun } from "../ThreadWorld.ts"

/** Steps after which a client is not notified of a thread any more, or only by another connection. */
const leaving: ReadonlyArray<string> = ["unsubscribe", "archive", "unarchive", "delete"]

/** Turns whose end was recorded before that place in the trace, each with its thread. */
const endedBefore = (run: ThreadRun, place: number): ReadonlySet<string> =>
  new Set(
    run.batches
      .filter(({ at: written }) => written < place)
      .flatMap(({ id, records }) =>
        records.flatMap((record) =>
          record._tag === "Event" && isTerminal(record.event.msg)
            ? [`${id} ${record.event.id}`]
            : [],
        ),
      ),
  )

/**
 * L5: a turn that the response to `turn/start` names is sent its end, also where it never begins, when that is recorded while the client is there. A client that left a
 * thread or did not read everything may have missed it; so may one of a thread that could not be recorded or that another
 * process has taken over.
 */
export const namedTurnEnds: RunCheck = ({ connections, run }) =>
  run.plan.processes > 1 || run.plan.stolen !== undefined || run.plan.restart
    ? []
    : connections.flatMap((connection) => {
        const { failures, name, plan, whole } = connection
        const hasLeft = connections.some((one) =>
          one.plan.steps.some((step) => leaving.includes(step.do)),
        )
        if (!whole || plan.ends !== "closes" || hasLeft || failures.length > 0) return []
        const closing = run.trace.findIndex(
          (entry) => entry.at === "wireEnd" && entry.connection === name && entry.how === "closes",
        )
        const due = endedBefore(run, closing)
        const ended = new Set(
          notificationsOf(connection)
            .filter(({ method }) => method === TurnCompleted._tag)
            .map((one) => `${String(param(one, "threadId"))} ${String(param(one, "turn", "id"))}`),
        )
        return succeededOf(connection).flatMap(({ request, response }) => {
          const turn = `${String(param(request, "threadId"))} ${String(at(response.result, "turn", "id"))}`
          return request.method !== TurnStart._tag || !due.has(turn) || ended.has(turn)
            ? []
            : [`turn ${turn} is not sent its end`]
        })
      })
