/**
 * The questions that the work of one task asks, until they are answered. Each question waits under its own key. Decides
 * nothing about an answer, whose shape was checked before.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { InputRequest, InputResponse } from "../mcp/RequestContext.ts"
import * as Steps from "./Task.ts"
import type { Task } from "./Task.ts"
import type { TaskTable } from "./TaskTable.ts"

/** By key of the question: the client's answer, or the error that it responded with. */
export type Answers = Readonly<Record<string, Exit.Exit<InputResponse, JsonRpcError>>>

type Reply = Deferred.Deferred<InputResponse, JsonRpcError>

interface PendingQuestion {
  /** The caller's name for the question. */
  readonly name: string
  /** Its key in the task. */
  readonly key: string
  readonly reply: Reply
}

const taskEnded = () =>
  new JsonRpcError({ code: ErrorCode.internalError, message: "the task has ended" })

/** The pending questions of one task. */
export class TaskQuestions {
  private readonly pending = new Map<string, Reply>()
  private readonly table: TaskTable
  private readonly task: Task

  constructor(table: TaskTable, task: Task) {
    this.table = table
    this.task = task
  }

  /**
   * Adds the questions to the task and resolves with all answers, by the caller's names. Fails with the error that a
   * client responded with, and when the task has ended. When it is interrupted, the questions are withdrawn.
   */
  ask<K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ): Effect.Effect<Readonly<Record<K, InputResponse>>, JsonRpcError> {
    return Effect.acquireUseRelease(
      this.add(questions),
      (waiting) =>
        waiting.length < Object.keys(questions).length
          ? Effect.fail(taskEnded())
          : Effect.map(
              Effect.forEach(waiting, ({ name, reply }) =>
                Effect.map(Deferred.await(reply), (answer) => [name, answer] as const),
              ),
              (answers) => Object.fromEntries(answers) as Record<K, InputResponse>,
            ),
      (waiting) => this.remove(waiting.map(({ key }) => key)),
    )
  }

  /** Resolves the questions of these keys; keys without a pending question are ignored. */
  answer(answers: Answers): Effect.Effect<void> {
    return Effect.suspend(() => {
      const keys = Object.keys(answers).filter((key) => this.pending.has(key))
      for (const key of keys) {
        const reply = this.pending.get(key)
        const answer = answers[key]
        if (reply !== undefined && answer !== undefined) Deferred.doneUnsafe(reply, answer)
      }
      return this.remove(keys)
    })
  }

  /** The added questions; none when the task has ended. */
  private add(questions: Readonly<Record<string, InputRequest>>) {
    const waiting: Array<PendingQuestion> = []
    const asked = Object.entries(questions)
    return Effect.as(
      this.table.update(this.task, (task, nowMs) => {
        if (task.end !== undefined) return task
        const [next, keys] = Steps.addQuestions(task, asked, nowMs)
        keys.forEach((key, index) => {
          const reply: Reply = Deferred.makeUnsafe()
          this.pending.set(key, reply)
          waiting.push({ name: asked[index]?.[0] ?? key, key, reply })
        })
        return next
      }),
      waiting,
    )
  }

  private remove(keys: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.suspend(() => {
      for (const key of keys) this.pending.delete(key)
      return this.table.update(this.task, (task, nowMs) => Steps.removeQuestions(task, keys, nowMs))
    })
  }
}
