import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  asking,
  elicitations,
  exec,
  questionId,
  responses,
  result,
  withQuestion,
} from "../support/Asking.ts"
import { toolCall } from "../support/Harness.ts"
import { textOf } from "../support/Wire.ts"

const approved = { action: "accept", content: { decision: "approved" } }
const denied = { action: "accept", content: { decision: "denied" } }

/** An error that answers the request with this id. */
const error = (id: unknown) => ({ jsonrpc: "2.0", id, error: { code: -1, message: "no" } })

describe("answers to questions", () => {
  it.effect.each<readonly [what: string, answer: object]>([
    ["to a question never asked", result(7, approved)],
    ["with the id re-typed", result("1", approved)],
    ["with an empty id", result("", approved)],
    ["with the id of the call", result(2, approved)],
    ["with no id", { jsonrpc: "2.0", result: approved }],
    ["with null for an id", result(null, approved)],
    ["with a fraction for an id", result(0.5, approved)],
    ["that is an error to a question never asked", error(7)],
    ["that is an error with the id re-typed", error("1")],
    ["that is an error with null for an id", error(null)],
  ])("L7 one %s changes nothing: %j; the real answer counts", ([, answer]) => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const before = server.texts.length
        yield* server.send(answer)
        yield* server.quiet
        assert.deepStrictEqual([asked.verdicts, server.texts.length], [[], before])
        yield* server.send(result(questionId(server), approved))
        assert.strictEqual(textOf(yield* server.response(2)), "done")
        assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
      }),
    )
  })

  it.effect.each([
    ["in one write", false],
    ["one after the other", true],
  ] as const)("L7 of two answers the first counts: %s", ([, apart]) => {
    const asked = asking([exec, exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        yield* server.send(
          result(questionId(server), denied),
          ...(apart ? [] : [result(questionId(server), approved)]),
        )
        yield* server.quiet
        if (apart)
          yield* server.send(result(questionId(server), approved), error(questionId(server)))
        yield* server.quiet
        // The second question of the same call has another id.
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "answered" }])
        assert.deepStrictEqual(
          elicitations(server).map(({ id }) => id),
          [1, 2],
        )
        yield* server.send(result(questionId(server, 1), approved))
        assert.strictEqual(textOf(yield* server.response(2)), "done")
        assert.strictEqual(responses(server, 2).length, 1)
      }),
    )
  })

  it.effect("L7 one from another client, which was not asked, changes nothing", () => {
    const asked = asking([exec])
    return withQuestion(asked, (server) =>
      Effect.gen(function* () {
        const other = yield* server.another
        yield* other.send(result(questionId(server), approved), error(questionId(server)))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [])
        yield* other.send(toolCall(0, "no-such-tool", {}))
        assert.strictEqual((yield* other.response(0)).error?.code, -32602)
        yield* server.send(result(questionId(server), denied))
        yield* server.response(2)
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "answered" }])
      }),
    )
  })
})
