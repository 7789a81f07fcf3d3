import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Elicit } from "../../src/mcp/CodexMcp.ts"
import {
  decisionForm,
  decisionResult,
  readDecision,
  readElicitResult,
} from "../../src/mcp/Elicitation.ts"
import { codecOf } from "../../src/Method.ts"
import { ReviewDecision } from "../../src/Policy.ts"

const codec = codecOf(Elicit)

describe("Elicitation", () => {
  it("offers every decision, in the order of the policy", () => {
    assert.deepStrictEqual<unknown>(
      Object.values(decisionForm()["properties"] ?? {}).map(({ enum: words }) => words),
      [ReviewDecision.literals],
    )
  })

  it.each(ReviewDecision.literals)(
    "the specification's answer %s reads as it was meant",
    (decision) => {
      assert.deepStrictEqual(readDecision(decisionResult(decision)), Result.succeed(decision))
      assert.deepStrictEqual(readDecision({ decision }), Result.succeed(decision))
    },
  )

  it.each<readonly [answer: unknown, problem: string]>([
    ["approved", "expected an object with `action` or `decision`"],
    [{}, "expected `action` or `decision`"],
    [{ action: null, decision: null }, "expected `action` or `decision`"],
    [
      { decision: "sure" },
      "expected `decision` to be one of approved, approved_for_session, denied, abort",
    ],
    [
      { action: "accept", content: { decision: true } },
      "expected `content.decision` to be one of approved, approved_for_session, denied, abort",
    ],
    [{ action: "accept", content: { yes: true } }, "expected `content.decision`"],
    [{ action: "accept", content: [] }, "expected `content` to be an object"],
    [{ action: "ACCEPT" }, "expected `action` to be one of accept, decline, cancel"],
    [
      { action: "accept", decision: "approved", content: { decision: "abort" } },
      "expected `decision` and `content.decision` to be the same",
    ],
  ])("%j fails with its fault", (answer, problem) => {
    assert.deepStrictEqual(readDecision(answer), Result.fail(problem))
  })

  it.each<readonly [answer: unknown, decision: ReviewDecision]>([
    [{ action: "decline" }, "denied"],
    [{ action: "cancel" }, "denied"],
    [{ action: "cancel", content: {} }, "denied"],
    [{ action: "cancel", decision: "approved" }, "denied"],
    [{ action: "decline", decision: "abort" }, "abort"],
    [{ action: "cancel", decision: "abort" }, "abort"],
    [{ action: "cancel", decision: null }, "denied"],
    [{ action: "accept", content: { decision: null } }, "approved"],
    [{ action: "accept", decision: null }, "approved"],
    [{ action: "accept", decision: "denied", content: { decision: null } }, "denied"],
    [{ action: null, decision: "approved" }, "approved"],
  ])("L7 %j is the decision %s", (answer, decision) => {
    assert.deepStrictEqual(readDecision(answer), Result.succeed(decision))
  })

  it.prop(
    "L13 whatever comes reads as a decision or as a problem",
    { answer: Schema.Json },
    ({ answer }) => {
      const read = readDecision(answer)
      assert.isTrue(Result.isFailure(read) || ReviewDecision.literals.includes(read.success))
    },
  )

  it("L7 nothing but a plain yes allows anything", () => {
    for (const answer of [{ action: "decline" }, { action: "cancel" }]) {
      for (const more of [{ decision: "approved" }, { content: { decision: "approved" } }]) {
        const read = readDecision({ ...answer, ...more })
        assert.notInclude(
          ["approved", "approved_for_session"],
          Result.getOrElse(read, () => "x"),
        )
      }
    }
  })

  it("another implementation reads the question and its answer", () => {
    const question = { message: "?", requestedSchema: decisionForm(), codex_call_id: "c" }
    const encoded = codec.encodeParams(question)
    assert.deepStrictEqual(encoded, Result.succeed(question))
    const read = Schema.decodeUnknownSync(McpSchema.Elicit.payloadSchema)(question)
    assert.strictEqual(read.message, "?")
    Schema.decodeUnknownSync(McpSchema.Elicit.successSchema)(decisionResult("approved"))
  })

  it("reads the questions of other versions and of other servers", () => {
    const form = { type: "object", properties: {} }
    for (const params of [
      { message: "Your name?", requestedSchema: form },
      {
        message: "?",
        requestedSchema: form,
        codex_elicitation: "patch-approval",
        codex_changes: { "/a": { type: "update", unified_diff: "", move_path: null } },
      },
      { message: "?", requestedSchema: form, codex_parsed_cmd: [{ type: "format", cmd: "x" }] },
    ]) {
      assert.deepStrictEqual<unknown>(codec.decodeParams(params), Result.succeed(params))
    }
  })

  it("passes the result for a tool server's form through, or names its fault", () => {
    const content = { name: "a", decision: "denied" }
    for (const answer of [
      { action: "accept", content },
      { action: "accept" },
      { action: "decline" },
      { action: "cancel" },
    ]) {
      assert.deepStrictEqual<unknown>(
        readElicitResult({ ...answer, _meta: {} }),
        Result.succeed(answer),
      )
    }
    assert.deepStrictEqual<unknown>(
      readElicitResult({ action: "cancel", content }),
      Result.succeed({ action: "cancel" }),
    )
    assert.deepStrictEqual<unknown>(
      readElicitResult({ action: "accept", content: { a: 1, b: null } }),
      Result.succeed({ action: "accept", content: { a: 1 } }),
    )
    for (const answer of [null, {}, { decision: "approved" }, { action: "accept", content: [] }]) {
      assert.deepStrictEqual(
        readElicitResult(answer),
        Result.fail("expected `action`, one of accept, decline, cancel, and `content`, an object"),
      )
    }
  })
})
