import { assert, describe, it } from "@effect/vitest"
import { reviewOp, type ReviewTarget } from "../../src/review/ReviewTarget.ts"

describe("reviewOp", () => {
  it.each<readonly [ReviewTarget, hint: string, asked: RegExp]>([
    [{ type: "uncommittedChanges" }, "current changes", /untracked/],
    [{ type: "baseBranch", branch: "main" }, "changes against 'main'", /merge-base HEAD main/],
    [{ type: "commit", sha: "0123456789" }, "commit 0123456", /git show 0123456789/],
    [
      { type: "commit", sha: "0123456789", title: "Fix it" },
      "commit 0123456: Fix it",
      /commit 0123456789 \("Fix it"\)/,
    ],
    [{ type: "custom", instructions: "look at a.txt" }, "look at a.txt", /^look at a\.txt$/],
  ])("%j", (target, hint, asked) => {
    const { review_request } = reviewOp(target)
    assert.strictEqual(review_request.user_facing_hint, hint)
    assert.match(review_request.prompt, asked)
  })
})
