import { assert, describe, it } from "@effect/vitest"
import { nearest } from "../src/Nearest.ts"

const names = ["approval-policy", "sandbox", "cwd", "prompt", "model", "profile"]

describe("nearest", () => {
  it.each([
    ["approval_policy", "approval-policy"],
    ["approvalPolicy", "approval-policy"],
    ["APPROVAL POLICY", "approval-policy"],
    ["aproval-polcy", "approval-policy"],
    ["sandbx", "sandbox"],
    ["sandboxx", "sandbox"],
    ["cwdd", "cwd"],
    ["prompts", "prompt"],
    ["modle", "model"],
    ["profil", "profile"],
  ])("%s is nearest to %s", (name, expected) => {
    assert.strictEqual(nearest(name, names), expected)
  })

  it.each(["temperature", "nonsense", "", "zzzzzzzz", "approval"])("%j is near to none", (name) => {
    assert.isUndefined(nearest(name, names))
  })

  it("the nearer of two wins, the first of two equals", () => {
    assert.strictEqual(nearest("modl", ["models", "model"]), "model")
    assert.strictEqual(nearest("ac", ["aa", "ab"]), "aa")
  })

  it("finds nothing near to a very long name, without comparing it", () => {
    assert.isUndefined(nearest("sandbox".repeat(100_000), names))
    assert.isUndefined(nearest("sandbox", []))
  })
})
