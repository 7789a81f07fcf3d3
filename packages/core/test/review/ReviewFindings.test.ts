import { assert, describe, it } from "@effect/vitest"
import { findingsOf, reviewText } from "../../src/review/ReviewFindings.ts"

const finding = {
  title: "T",
  body: "B",
  confidence_score: 0.5,
  priority: 1,
  code_location: { absolute_file_path: "/w/a.txt", line_range: { start: 1, end: 2 } },
}
const output = {
  findings: [finding],
  overall_correctness: "patch is correct",
  overall_explanation: "fine",
  overall_confidence_score: 0.9,
}
const plain = (overall_explanation: string) => ({
  findings: [],
  overall_correctness: "",
  overall_explanation,
  overall_confidence_score: 0,
})
const textOf = (review_output: Parameters<typeof reviewText>[0]["review_output"]) =>
  reviewText({ type: "exited_review_mode", review_output })

describe("findingsOf", () => {
  const json = JSON.stringify(output)
  it.each([
    ["alone", json],
    ["in a code fence", `\`\`\`json\n${json}\n\`\`\``],
    ["after a text", `Here it is:\n\n${json}`],
  ])("reads the JSON %s", (_, answer) => {
    assert.deepStrictEqual(findingsOf(answer), output)
  })

  it("fills in what a model may leave out", () => {
    const { code_location, title, body } = finding
    const answer = JSON.stringify({ findings: [{ title, body, code_location, priority: null }] })
    assert.deepStrictEqual(findingsOf(answer), {
      ...plain(""),
      findings: [{ title, body, code_location, confidence_score: 0, priority: 3 }],
    })
  })

  it.each([
    "looks good",
    "",
    "{}",
    "} {",
    '{"findings":[{"title":1}]}',
    "a { b } c",
    `${"[".repeat(300)}{}`,
  ])("takes any other answer as the explanation: %s", (answer) => {
    assert.deepStrictEqual(findingsOf(answer), plain(answer))
  })
})

describe("reviewText", () => {
  it("lists the findings after the explanation, in the form of the original", () => {
    assert.strictEqual(textOf(output), "fine\n\nReview comment:\n\n- T — /w/a.txt:1-2\n  B")
    assert.strictEqual(
      textOf({ ...output, findings: [finding, { ...finding, body: "one\ntwo" }] }),
      "fine\n\nReview comments:\n\n- T — /w/a.txt:1-2\n  B\n\n- T — /w/a.txt:1-2\n  one\n  two",
    )
  })

  it("is never empty", () => {
    assert.strictEqual(textOf(plain("")), "The review has no findings.")
    assert.strictEqual(textOf(null), "The review did not finish.")
  })
})
