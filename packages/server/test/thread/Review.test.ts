/** Reviews of changes. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { created, errorOf, listening, resultOf, typesOf, withApp } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const output = {
  findings: [
    {
      title: "T",
      body: "B",
      confidence_score: 0.5,
      priority: 1,
      code_location: {
        absolute_file_path: "/workspace/hello.txt",
        line_range: { start: 1, end: 1 },
      },
    },
  ],
  overall_correctness: "patch is correct",
  overall_explanation: "fine",
  overall_confidence_score: 0.9,
}
const text = "fine\n\nReview comment:\n\n- T — /workspace/hello.txt:1-1\n  B"

const answering = [
  Script.reply(Script.text(JSON.stringify(output))),
  Script.reply(Script.text("later")),
]
const hanging = [Script.reply(Script.bareDeltas('{"fin'), Script.hang)]

const review = (app: Harness, threadId: string, target: object = { type: "uncommittedChanges" }) =>
  Effect.map(app.ask("review", "review/start", { threadId, target }), resultOf)

/** Every item that was started is completed, once, and the thread says the same afterwards. */
const assertComplete = (app: Harness, threadId: string) =>
  Effect.gen(function* () {
    const ids = (method: string) => told(app, method).map((one) => String(at(one, "item", "id")))
    assert.deepStrictEqual(ids("item/completed").toSorted(), ids("item/started").toSorted())
    const params = { threadId, includeTurns: true }
    const read = resultOf(yield* app.ask("read", "thread/read", params))
    const turns = at(read, "thread", "turns") as ReadonlyArray<unknown>
    assert.deepStrictEqual(
      turns.flatMap((one) => at(one, "items")),
      told(app, "item/completed").map((one) => at(one, "item")),
    )
  })

const shown = (app: Harness) =>
  told(app, "item/completed").map((one) => [
    at(one, "turnId"),
    at(one, "item", "type"),
    at(one, "item", "review") ?? at(one, "item", "text") ?? at(one, "item", "content", 0, "text"),
  ])

describe("review/start", () => {
  it.effect("runs a review under the one id that it returns, and shows what it found", () =>
    withThreads({ script: answering }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const before = app.messages.length
        const { reviewThreadId, turn: running } = yield* review(app, threadId)
        assert.strictEqual(reviewThreadId, threadId)
        assert.strictEqual(at(running, "status"), "inProgress")
        yield* app.quiet
        const id = at(running, "id")
        assert.deepStrictEqual(shown(app), [
          [id, "enteredReviewMode", "current changes"],
          [id, "userMessage", "current changes"],
          [id, "exitedReviewMode", text],
          [id, "agentMessage", text],
        ])
        assert.deepStrictEqual(lines(app, before), [
          "answer review",
          "thread/status/changed active",
          "turn/started",
          "item/started enteredReviewMode",
          "item/completed enteredReviewMode",
          "item/started userMessage",
          "item/completed userMessage",
          "thread/tokenUsage/updated",
          "item/started exitedReviewMode",
          "item/completed exitedReviewMode",
          "item/started agentMessage",
          "item/agentMessage/delta",
          "item/completed agentMessage",
          "thread/readState/changed",
          "thread/status/changed idle",
          "turn/completed",
        ])
        const ended = at(told(app, "turn/completed")[0], "turn")
        assert.deepStrictEqual([at(ended, "id"), at(ended, "status")], [id, "completed"])
        assert.strictEqual(at(ended, "items", 0, "text"), text)
        assert.strictEqual(
          at(running, "items", 0, "id"),
          at(told(app, "item/started")[1], "item", "id"),
        )
        yield* assertComplete(app, threadId)
      }),
    ),
  )

  it.effect("the model is sent its task, and later turns the findings", () =>
    withThreads({ script: answering }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* review(app, threadId, { type: "custom", instructions: "look at hello.txt" })
        yield* app.quiet
        yield* turn(app, threadId, "thanks")
        yield* app.quiet
        const [first, second] = yield* app.provider.requests
        assert.include(JSON.stringify(first), "look at hello.txt")
        assert.include(JSON.stringify(second), "Review comment:")
        assert.notInclude(JSON.stringify(second), "overall_explanation")
      }),
    ),
  )

  for (const [how, method] of [
    ["interrupted", "turn/interrupt"],
    ["archived with its thread", "thread/archive"],
    ["deleted with its thread", "thread/delete"],
  ] as const) {
    for (const first of ["a turn before a review", "a review before a turn"]) {
      it.effect(`L5 a turn that waits ends when it is ${how}: ${first}`, () =>
        withThreads({ script: hanging }, (app) =>
          Effect.gen(function* () {
            const threadId = yield* started(app)
            const reviewed = Effect.map(review(app, threadId), (one) =>
              String(at(one, "turn", "id")),
            )
            const said = turn(app, threadId, "hi")
            const [running, waiting] = yield* Effect.all(
              first.startsWith("a turn") ? [said, reviewed] : [reviewed, said],
            )
            assert.notStrictEqual(running, waiting)
            resultOf(yield* app.ask("end", method, { threadId, turnId: waiting }))
            yield* app.quiet
            const ends = told(app, "turn/completed").map((one) => at(one, "turn"))
            const own = ends.filter((one) => at(one, "id") === waiting)
            assert.deepStrictEqual(
              own.map((one) => [at(one, "status"), at(one, "startedAt"), at(one, "items")]),
              [["interrupted", null, []]],
            )
            assert.isFalse(
              told(app, "turn/started").some((one) => at(one, "turn", "id") === waiting),
            )
            if (method !== "turn/interrupt") return
            const params = { threadId, includeTurns: true }
            const read = resultOf(yield* app.ask("read", "thread/read", params))
            const turns = at(read, "thread", "turns") as ReadonlyArray<unknown>
            const kept = turns.find((one) => at(one, "id") === waiting)
            assert.deepStrictEqual([at(kept, "status"), at(kept, "items")], ["interrupted", []])
          }),
        ),
      )
    }
  }

  it.effect("can be interrupted by the id that it returned, from the response on", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = String(at(yield* review(app, threadId), "turn", "id"))
        const params = { threadId, turnId }
        assert.deepStrictEqual(resultOf(yield* app.ask("stop", "turn/interrupt", params)), {})
        yield* app.quiet
        const ended = at(told(app, "turn/completed")[0], "turn")
        assert.deepStrictEqual([at(ended, "id"), at(ended, "status")], [turnId, "interrupted"])
        assert.deepStrictEqual(shown(app).at(-1), [
          turnId,
          "exitedReviewMode",
          "The review did not finish.",
        ])
        yield* assertComplete(app, threadId)
      }),
    ),
  )

  it.effect("every item completes when the model fails, and no raw answer is left", () =>
    withThreads({ script: [Script.reply(Script.bareDeltas('{"fin'), Script.drop)] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* review(app, threadId)
        yield* app.quiet
        assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "failed")
        assert.deepStrictEqual(
          shown(app).map(([, type]) => type),
          ["enteredReviewMode", "userMessage", "exitedReviewMode"],
        )
        yield* assertComplete(app, threadId)
      }),
    ),
  )

  it.effect("cannot be steered, and runs after a running turn", () =>
    withThreads({ script: [...hanging, ...hanging, ...hanging] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const first = yield* turn(app, threadId)
        const turnId = String(at(yield* review(app, threadId), "turn", "id"))
        assert.notStrictEqual(turnId, first)
        yield* app.ask("stop", "turn/interrupt", { threadId, turnId: first })
        yield* app.quiet
        const input = [{ type: "text", text: "no" }]
        const { error } = yield* app.ask("steer", "turn/steer", {
          threadId,
          input,
          expectedTurnId: turnId,
        })
        assert.deepStrictEqual<unknown>(error, {
          code: -32600,
          message: "cannot steer a review turn",
          data: {
            message: "cannot steer a review turn",
            codexErrorInfo: { activeTurnNotSteerable: { turnKind: "review" } },
            additionalDetails: null,
            misalignment: null,
          },
        })
        const later = yield* turn(app, threadId, "later", {}, "later")
        assert.notStrictEqual(later, turnId)
      }),
    ),
  )

  it.effect.each([
    [{ target: { type: "custom", instructions: " " } }, "instructions must not be empty"],
    [{ target: { type: "baseBranch", branch: "" } }, "branch must not be empty"],
    [{ target: { type: "commit", sha: "", title: null } }, "sha must not be empty"],
    [
      { delivery: "detached" },
      'Invalid request: params.delivery: Expected "inline": a review in a thread of its own (`detached`) is not supported',
    ],
    [
      { threadId: "00000000-0000-4000-8000-000000000000" },
      "thread not found: 00000000-0000-4000-8000-000000000000",
    ],
  ] as const)("refuses %j", ([params, message]) =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const answer = yield* app.ask("review", "review/start", {
          threadId,
          target: { type: "uncommittedChanges" },
          ...params,
        })
        assert.deepStrictEqual(errorOf(answer), { code: -32600, message })
      }),
    ),
  )

  it.effect("listeners of the first version see it as well", () =>
    withApp({ script: answering }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* created(app)
        yield* listening(app, threadId)
        yield* app.ask("review", "review/start", {
          threadId,
          target: { type: "commit", sha: "0123456789" },
        })
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), [
          "task_started",
          "entered_review_mode",
          "token_count",
          "exited_review_mode",
          "agent_message",
          "task_complete",
        ])
      }),
    ),
  )
})
