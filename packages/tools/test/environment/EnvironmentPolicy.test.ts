import type { ShellEnvironment } from "@colloquy/core/ConversationSettings"
import { assert, describe, it } from "@effect/vitest"
import { type EnvironmentOptions, environmentOf } from "../../src/environment/EnvironmentPolicy.ts"

const parent = {
  PATH: "/bin",
  HOME: "/h",
  Tmp: "/t",
  LANG: "C",
  EDITOR: "vi",
  MY_TOKEN: "t",
  my_secret: "s",
  KEYBOARD: "k",
  OPENAI_API_KEY: "sk",
  ACME_CREDENTIAL: "c",
  GONE: undefined,
}

const policy = (part: Partial<ShellEnvironment> = {}): ShellEnvironment => ({
  inherit: "all",
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
  ...part,
})

const usual = { PATH: "/bin", HOME: "/h", Tmp: "/t", LANG: "C", EDITOR: "vi", KEYBOARD: "k" }
const secrets = { MY_TOKEN: "t", my_secret: "s", ACME_CREDENTIAL: "c" }

const cases: ReadonlyArray<{
  readonly name: string
  readonly policy: ShellEnvironment | undefined
  readonly options?: Partial<EnvironmentOptions>
  readonly parent?: Readonly<Record<string, string>>
  readonly expected: Readonly<Record<string, string>>
}> = [
  { name: "without a policy drops what looks like a secret", policy: undefined, expected: usual },
  { name: "inherits all", policy: policy(), expected: usual },
  {
    name: "inherits the core, whatever the case",
    policy: policy({ inherit: "core" }),
    expected: { PATH: "/bin", HOME: "/h", Tmp: "/t" },
  },
  { name: "inherits nothing", policy: policy({ inherit: "none" }), expected: {} },
  {
    name: "keeps what looks like a secret on demand, but never a provider's key",
    policy: policy({ ignoreDefaultExcludes: true }),
    expected: { ...usual, ...secrets },
  },
  {
    name: "excludes by pattern, whatever the case",
    policy: policy({ exclude: ["p?th", "ed*", "*board", "H"] }),
    expected: { HOME: "/h", Tmp: "/t", LANG: "C" },
  },
  {
    name: "sets after excluding: what is set may look like a secret",
    policy: policy({ inherit: "none", exclude: ["A"], set: { A: "1", B_TOKEN: "2" } }),
    expected: { A: "1", B_TOKEN: "2" },
  },
  {
    name: "keeps only what is asked for, of what is set too",
    policy: policy({ set: { A: "1", AB: "2" }, includeOnly: ["PATH", "a?"] }),
    expected: { PATH: "/bin", AB: "2" },
  },
  {
    name: "takes keys of providers out last, set or inherited",
    policy: policy({
      ignoreDefaultExcludes: true,
      set: { OPENAI_API_KEY: "sk", codex_api_key: "ck", ACME_CREDENTIAL: "again", A: "1" },
      includeOnly: ["*KEY*", "*CRED*", "A"],
    }),
    options: { providerKeyNames: ["ACME_CREDENTIAL"] },
    expected: { KEYBOARD: "k", A: "1" },
  },
  {
    name: "marks a forbidden network and the conversation behind everything else",
    policy: policy({ inherit: "none", includeOnly: ["X"] }),
    options: { networkDisabled: true, conversationId: "c1" },
    expected: { CODEX_SANDBOX_NETWORK_DISABLED: "1", CODEX_THREAD_ID: "c1" },
  },
  {
    name: "leaves the mark it finds alone when the network is allowed",
    policy: policy({ inherit: "all" }),
    parent: { CODEX_SANDBOX_NETWORK_DISABLED: "1" },
    expected: { CODEX_SANDBOX_NETWORK_DISABLED: "1" },
  },
  {
    name: "takes names and patterns of any form as text",
    policy: policy({ inherit: "none", set: { "a.b[": "1", axb: "2" }, includeOnly: ["a.b["] }),
    expected: { "a.b[": "1" },
  },
]

describe("environmentOf", () => {
  for (const { expected, name, options, parent: given, policy: shell } of cases) {
    it(name, () => {
      const all = { networkDisabled: false, providerKeyNames: [], ...options }
      assert.deepStrictEqual(environmentOf(given ?? parent, shell, all), expected)
    })
  }

  it("decides about a hostile pattern at once", () => {
    const pattern = "*a".repeat(5_000)
    const name = "a".repeat(4_000)
    const found = environmentOf({ [name]: "1" }, policy({ exclude: [pattern] }), {
      networkDisabled: false,
      providerKeyNames: [],
    })
    assert.deepStrictEqual(found, { [name]: "1" })
  })
})
