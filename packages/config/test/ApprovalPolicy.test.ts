/** The approval policy `granular` in the configuration. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { SettingsOverrides } from "@colloquy/core/ConversationSettings"
import { unknownKeys } from "../src/ConfigKeys.ts"
import { Config } from "../src/ConfigSchema.ts"
import * as ConfigTree from "../src/ConfigTree.ts"
import * as Resolve from "../src/Resolve.ts"

const openai = {
  id: "openai",
  name: "openai",
  wire: "responses" as const,
  baseUrl: "http://openai",
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.minutes(5),
}

const tree = (toml: string) => Result.getOrThrow(ConfigTree.parseToml(toml))

const resolved = (config: ConfigTree.ConfigTree, overrides: SettingsOverrides) =>
  Resolve.resolve(
    { tree: config, builtinProviders: [openai], defaultProvider: "openai", cwd: "/w" },
    overrides,
  )

/** The policy of the core and its questions. */
const policyIn = (config: ConfigTree.ConfigTree, overrides: SettingsOverrides = {}) => {
  const { approvalPolicy, approvalQuestions } = Result.getOrThrow(resolved(config, overrides))
  return [approvalPolicy, approvalQuestions]
}

const problem = (toml: string) =>
  Result.match(resolved(tree(toml), {}), {
    onSuccess: () => "no error",
    onFailure: ({ key, message }) => `${message}(${key})`,
  })

const required = "sandbox_approval = true\nrules = true\nmcp_elicitations = false\n"
const file = `[approval_policy.granular]\n${required}`
const questions = { sandbox: true, permissions: false, tool_servers: false }

describe("approval_policy = { granular = … }", () => {
  it("allows the questions that are switched on, and an absent switch is off", () => {
    assert.deepStrictEqual(policyIn(tree(file)), ["on-request", questions])
    assert.deepStrictEqual(policyIn(tree(`${file}request_permissions = true\n`)), [
      "on-request",
      { ...questions, permissions: true },
    ])
    const inline =
      "approval_policy = { granular = { sandbox_approval = false, rules = false, mcp_elicitations = true } }"
    const others = { sandbox: false, permissions: false, tool_servers: true }
    assert.deepStrictEqual(policyIn(tree(inline)), ["on-request", others])
  })

  it("`-c` sets the table, or one switch of it", () => {
    const set = (toml: string, ...args: ReadonlyArray<string>) =>
      ConfigTree.applyOverrides(tree(toml), Result.getOrThrow(ConfigTree.parseOverrides(args)))
    const whole =
      "approval_policy={granular={sandbox_approval=true,rules=true,mcp_elicitations=false}}"
    assert.deepStrictEqual(policyIn(set('approval_policy = "never"', whole)), [
      "on-request",
      questions,
    ])
    const one = "approval_policy.granular.mcp_elicitations=true"
    assert.deepStrictEqual(policyIn(set(file, one)), [
      "on-request",
      { ...questions, tool_servers: true },
    ])
  })

  it("a profile, a client's edit and a client's policy replace it whole, and the other way round", () => {
    const profiled = `profile = "p"\n${file}[profiles.p]\napproval_policy = "untrusted"\n`
    assert.deepStrictEqual(policyIn(tree(profiled)), ["untrusted", undefined])
    const inProfile = `profile = "p"\napproval_policy = "never"\n[profiles.p.approval_policy.granular]\n${required}`
    assert.deepStrictEqual(policyIn(tree(inProfile)), ["on-request", questions])
    const granular = { sandbox_approval: true, rules: true, mcp_elicitations: false }
    assert.deepStrictEqual(policyIn(tree(""), { config: { approval_policy: { granular } } }), [
      "on-request",
      questions,
    ])
    assert.deepStrictEqual(policyIn(tree(file), { approvalPolicy: "on-request" }), [
      "on-request",
      undefined,
    ])
  })

  it.each([
    [
      "a switch that is missing",
      "[approval_policy.granular]\nsandbox_approval = true\nrules = true\n",
      "missing field `mcp_elicitations`\nin `approval_policy.granular`\n(approval_policy.granular)",
    ],
    [
      "a switch that is no boolean",
      `${file}skill_approval = "yes"\n`,
      "invalid type: string, expected a boolean\nin `approval_policy.granular.skill_approval`\n(approval_policy.granular.skill_approval)",
    ],
    [
      "the table without switches",
      '[profiles.p]\napproval_policy = { granular = "all" }',
      "invalid type: string, expected a map\nin `profiles.p.approval_policy.granular`\n(profiles.p.approval_policy.granular)",
    ],
    [
      "another table",
      "approval_policy = { gradual = {} }",
      "missing field `granular`\nin `approval_policy`\n(approval_policy)",
    ],
    [
      "a name that does not exist",
      'approval_policy = "nevr"',
      "unknown variant `nevr`, expected one of `untrusted`, `on-failure`, `on-request`, `never`, a map, did you mean `never`?\nin `approval_policy`\n(approval_policy)",
    ],
  ])("%s is an error that names the member", (_, toml, message) => {
    assert.strictEqual(problem(toml), message)
  })

  it("a switch that does not exist is an unknown key, with the nearest one", () => {
    assert.deepStrictEqual(unknownKeys(Config, tree(`${file}skil_approval = true\n`)), [
      {
        path: "approval_policy.granular.skil_approval",
        near: "approval_policy.granular.skill_approval",
      },
    ])
    assert.deepStrictEqual(unknownKeys(Config, tree(file)), [])
  })
})
