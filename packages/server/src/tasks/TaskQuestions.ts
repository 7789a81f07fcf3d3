/**
 * What the work of one task asks, until it is answered: each question waits under a key of its own. Decides nothing about
 * an answer; its shape was read before.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { InputRequest, InputResponse } from "../mcp/RequestContext.ts"
import * as Steps from "./Task.ts"
import type { Task } from "./Task.ts"
import type { TaskTable } from "./TaskTable.ts"

/** By key: what the client answered, or the error it answered with. */
export type Answers = Readonly<Record<string, Exit.Exit<InputResponse, JsonRpcError>>>

export interface TaskQuestions {
  /** Waits for all of the answers; interrupted, it wants none of them any more. */
  readonly ask: <K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ) => Effect.Effect<Readonly<Record<K, InputResponse>>, JsonRpcError>
  /** Keys that nothing waits for are ignored. */
  readonly answer: (answers: Answers) => Effect.Effect<void>
}

type Reply = Deferred.Deferred<InputResponse, JsonRpcError>

const over = () =>
  new JsonRpcError({ code: ErrorCode.internalError, message: "the task has ended" })

export const make = (table: TaskTable, made: Task): TaskQuestions => {
  const pending = new Map<string, Reply>()

  /** Name, key and reply of each; none when the task has ended. */
  const put = (questions: Readonly<Record<string, InputRequest>>) => {
    const waiting: Array<readonly [name: string, key: string, reply: Reply]> = []
    const asked = Object.entries(questions)
    return Effect.as(
      table.step(made, (task, nowMs) => {
        if (task.end !== undefined) return task
        const [next, keys] = Steps.ask(task, asked, nowMs)
        keys.forEach((key, index) => {
          const reply: Reply = Deferred.makeUnsafe()
          pending.set(key, reply)
          waiting.push([asked[index]?.[0] ?? key, key, reply])
        })
        return next
      }),
      waiting,
    )
  }

  const settle = (keys: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      for (const key of keys) pending.delete(key)
      return table.step(made, (task, nowMs) => Steps.settle(task, keys, nowMs))
    })

  return {
    ask: <K extends string>(questions: Readonly<Record<K, InputRequest>>) =>
      Effect.acquireUseRelease(
        put(questions),
        (waiting) =>
          waiting.length < Object.keys(questions).length
            ? Effect.fail(over())
            : Effect.map(
                Effect.forEach(waiting, ([name, , reply]) =>
                  Effect.map(Deferred.await(reply), (answer) => [name, answer] as const),
                ),
                (answers) => Object.fromEntries(answers) as Record<K, InputResponse>,
              ),
        (waiting) => settle(waiting.map(([, key]) => key)),
      ),
    answer: (answers) =>
      Effect.suspend(() => {
        const keys = Object.keys(answers).filter((key) => pending.has(key))
        for (const key of keys) {
          const reply = pending.get(key)
          const answer = answers[key]
          if (reply !== undefined && answer !== undefined) Deferred.doneUnsafe(reply, answer)
        }
        return settle(keys)
      }),
  }
}
