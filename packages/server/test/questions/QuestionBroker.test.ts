import { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Event } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { type Question, refOf } from "../../src/questions/Question.ts"
import {
  type DenialReason,
  decisionOp,
  formOp,
  takesDecision,
} from "../../src/questions/QuestionAnswer.ts"
import * as QuestionBroker from "../../src/questions/QuestionBroker.ts"

/** A dialect for this test: it puts questions as words, and reads the words "yes" and "no". */
const wordDialect = () => {
  const asked: Array<string> = []
  const withdrawn: Array<string> = []
  const replies = new Map<string, Deferred.Deferred<string, JsonRpcError | ConnectionClosed>>()
  const textOf = ({ msg }: Question) =>
    msg.type === "exec_approval_request" ? `run ${msg.command.join(" ")}?` : `${msg.type}?`
  /** All that a dialect has to supply. */
  const present: QuestionBroker.Present = (question) =>
    Effect.gen(function* () {
      const text = textOf(question)
      const reply = yield* Deferred.make<string, JsonRpcError | ConnectionClosed>()
      asked.push(text)
      replies.set(text, reply)
      const words = yield* Effect.onInterrupt(Deferred.await(reply), () =>
        Effect.sync(() => withdrawn.push(text)),
      )
      if (words !== "yes" && words !== "no") return Result.fail(`expected yes or no, got ${words}`)
      const ref = refOf(question)
      if (!takesDecision(ref)) {
        return Result.succeed(formOp(ref, { action: words === "yes" ? "accept" : "decline" }))
      }
      return Result.succeed(decisionOp(ref, words === "yes" ? "approved" : "denied"))
    })
  const reply = (text: string, words: Exit.Exit<string, JsonRpcError | ConnectionClosed>) =>
    Effect.suspend(() => {
      const pending = replies.get(text)
      if (pending === undefined) return Effect.die(`no question ${text}`)
      return Effect.andThen(Deferred.done(pending, words), Effect.yieldNow)
    })
  return { asked, withdrawn, present, reply }
}

/** A conversation that keeps the ops that it gets. */
const recorder = (id = "0199f0a0-0000-7000-8000-000000000001") => {
  const submitted: Array<readonly [Op, DenialReason?]> = []
  const conversation: QuestionBroker.Follower["conversation"] = {
    id: ConversationId.make(id),
    submit: (op, { because } = {}) =>
      Effect.sync(() => {
        submitted.push(because === undefined ? [op] : [op, because])
        return { id: "1", disposition: "none" as const }
      }),
  }
  return { conversation, submitted }
}

const asks = (seq: number, call: string, turn = "turn"): Event => ({
  seq,
  id: turn,
  msg: { type: "exec_approval_request", call_id: call, command: ["touch", call], cwd: "/" },
})

const approval = (seq: number, id: string, decision: "approved" | "denied"): Op => ({
  type: "exec_approval",
  id,
  question: seq,
  decision,
})

describe("QuestionBroker: a dialect with one `present` function", () => {
  it.effect("submits the answer to its question", () =>
    Effect.gen(function* () {
      const { asked, present, reply } = wordDialect()
      const { conversation, submitted } = recorder()
      const { follow } = yield* QuestionBroker.make()
      const questions = yield* follow({ conversation, present })
      yield* questions.put(asks(7, "a"))
      yield* questions.put(asks(8, "b"))
      yield* questions.put({
        seq: 9,
        id: "turn",
        msg: {
          type: "elicitation_request",
          server_name: "s",
          id: "form",
          message: "?",
          requested_schema: {},
        },
      })
      assert.deepStrictEqual(asked, ["run touch a?", "run touch b?", "elicitation_request?"])
      yield* reply("run touch b?", Exit.succeed("yes"))
      yield* reply("elicitation_request?", Exit.succeed("no"))
      yield* reply("run touch a?", Exit.succeed("no"))
      assert.deepStrictEqual(submitted, [
        [approval(8, "b", "approved")],
        [{ type: "elicitation_answer", id: "form", question: 9, action: "decline" }],
        [approval(7, "a", "denied")],
      ])
    }),
  )

  it.effect("presents a question once, whichever follower gets it, and ignores other events", () =>
    Effect.gen(function* () {
      const { asked, present } = wordDialect()
      const { conversation } = recorder()
      const { follow } = yield* QuestionBroker.make()
      const first = yield* follow({ conversation, present })
      const second = yield* follow({ conversation, present })
      yield* first.put(asks(7, "a"))
      yield* first.put(asks(7, "a"))
      yield* second.put(asks(7, "a"))
      yield* second.put({ seq: 8, id: "turn", msg: { type: "error", message: "no question" } })
      assert.deepStrictEqual(asked, ["run touch a?"])
    }),
  )

  it.effect("L7 denies an unreadable answer, an error and a defect, each with its reason", () =>
    Effect.gen(function* () {
      const { present, reply } = wordDialect()
      const { conversation, submitted } = recorder()
      const { follow } = yield* QuestionBroker.make()
      const questions = yield* follow({ conversation, present })
      yield* questions.put(asks(7, "a"))
      yield* reply("run touch a?", Exit.succeed("perhaps"))
      yield* questions.put(asks(8, "b"))
      const error = new JsonRpcError({ code: ErrorCode.internalError, message: "no person here" })
      yield* reply("run touch b?", Exit.fail(error))
      const broken = yield* follow({ conversation, present: () => Effect.die("no such form") })
      yield* broken.put(asks(9, "c"))
      yield* Effect.yieldNow
      assert.deepStrictEqual(submitted, [
        [approval(7, "a", "denied"), "malformed"],
        [approval(8, "b", "denied"), "failed"],
        [approval(9, "c", "denied"), "failed"],
      ])
    }),
  )

  it.effect("leaves a question unanswered when the connection closes", () =>
    Effect.gen(function* () {
      const { present, reply } = wordDialect()
      const { conversation, submitted } = recorder()
      const { follow } = yield* QuestionBroker.make()
      const questions = yield* follow({ conversation, present })
      yield* questions.put(asks(7, "a"))
      yield* reply("run touch a?", Exit.fail(new ConnectionClosed({ reason: "end of input" })))
      assert.deepStrictEqual(submitted, [])
    }),
  )

  it.effect("withdraws a question that is resolved elsewhere, and submits nothing for it", () =>
    Effect.gen(function* () {
      const { present, reply, withdrawn } = wordDialect()
      const { conversation, submitted } = recorder()
      const { follow } = yield* QuestionBroker.make()
      const questions = yield* follow({ conversation, present })
      yield* questions.put(asks(7, "a"))
      yield* questions.withdraw("b")
      assert.deepStrictEqual(withdrawn, [])
      yield* questions.withdraw("a")
      assert.deepStrictEqual(withdrawn, ["run touch a?"])
      yield* reply("run touch a?", Exit.succeed("yes"))
      assert.deepStrictEqual(submitted, [])
    }),
  )

  it.effect("shares the questions of a conversation until the last scope closes", () =>
    Effect.gen(function* () {
      const { asked, present, withdrawn } = wordDialect()
      const { conversation } = recorder()
      const { share } = yield* QuestionBroker.make()
      const scopes = [yield* Scope.make(), yield* Scope.make()] as const
      const first = yield* Scope.provide(share({ conversation, present }), scopes[0])
      const other = () => Effect.die("the first follower presents")
      const second = yield* Scope.provide(share({ conversation, present: other }), scopes[1])
      yield* first.put(asks(7, "a"))
      yield* Scope.close(scopes[0], Exit.void)
      yield* second.put(asks(8, "b"))
      assert.deepStrictEqual([asked, withdrawn], [["run touch a?", "run touch b?"], []])
      yield* Scope.close(scopes[1], Exit.void)
      assert.deepStrictEqual(withdrawn.toSorted(), ["run touch a?", "run touch b?"])
      const again = yield* share({ conversation, present })
      yield* again.put(asks(7, "a"))
      assert.strictEqual(asked.at(-1), "run touch a?")
    }),
  )

  it.effect("leaves the questions of a turn to the follower that owns it", () =>
    Effect.gen(function* () {
      const { asked, present } = wordDialect()
      const { conversation } = recorder()
      const { follow } = yield* QuestionBroker.make()
      const owner = yield* Scope.make()
      const runner = yield* Scope.provide(follow({ conversation, present }), owner)
      runner.ownTurn("turn")
      const other = yield* follow({ conversation, present })
      yield* other.put(asks(7, "a"))
      yield* other.put(asks(8, "b", "another turn"))
      assert.deepStrictEqual(asked, ["run touch b?"])
      yield* Scope.close(owner, Exit.void)
      yield* other.put(asks(7, "a"))
      assert.deepStrictEqual(asked, ["run touch b?", "run touch a?"])
    }),
  )

  it.effect("does not confuse conversations that number their questions alike", () =>
    Effect.gen(function* () {
      const { asked, present } = wordDialect()
      const { share } = yield* QuestionBroker.make()
      for (const last of ["1", "2"]) {
        const { conversation } = recorder(`0199f0a0-0000-7000-8000-00000000000${last}`)
        const questions = yield* share({ conversation, present })
        yield* questions.put(asks(7, `c${last}`))
      }
      assert.deepStrictEqual(asked, ["run touch c1?", "run touch c2?"])
    }),
  )
})
