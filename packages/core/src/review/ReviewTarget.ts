/** What a review examines, and the op that asks for it. Pure. */
import type { Op } from "@colloquy/protocol/Op"

/** What a review examines. */
export type ReviewTarget =
  /** Changes of the working directory that are not committed, files that git does not track included. */
  | { readonly type: "uncommittedChanges" }
  /** Changes since the history separated from the one of a branch. */
  | { readonly type: "baseBranch"; readonly branch: string }
  | { readonly type: "commit"; readonly sha: string; readonly title?: string | null }
  /** Whatever a person says. */
  | { readonly type: "custom"; readonly instructions: string }

/** Git shows this many digits of the name of a commit. */
const shortLength = 7

const promptOf = (target: ReviewTarget): string => {
  switch (target.type) {
    case "uncommittedChanges":
      return "Review the changes in this repository that are not committed yet: staged, unstaged and untracked files. `git status`, `git diff HEAD` and the untracked files themselves show them."
    case "baseBranch":
      return `Review what the current branch would bring into the branch \`${target.branch}\`. Find the commit that both have in common (\`git merge-base HEAD ${target.branch}\`, or its upstream branch if that is ahead), and read the difference from there to the working directory with \`git diff\`.`
    case "commit":
      return `Review the changes that commit ${target.sha}${target.title == null ? "" : ` ("${target.title}")`} makes. \`git show ${target.sha}\` shows them.`
    case "custom":
      return target.instructions
  }
}

const hintOf = (target: ReviewTarget): string => {
  switch (target.type) {
    case "uncommittedChanges":
      return "current changes"
    case "baseBranch":
      return `changes against '${target.branch}'`
    case "commit": {
      const name = `commit ${target.sha.slice(0, shortLength)}`
      return target.title == null ? name : `${name}: ${target.title}`
    }
    case "custom":
      return target.instructions
  }
}

/** The op that starts the review. */
export const reviewOp = (target: ReviewTarget): Extract<Op, { readonly type: "review" }> => ({
  type: "review",
  review_request: { prompt: promptOf(target), user_facing_hint: hintOf(target) },
})
