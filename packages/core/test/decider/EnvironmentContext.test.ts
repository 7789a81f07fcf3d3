import { assert, describe, it } from "@effect/vitest"
import type { ConversationSettings } from "../../src/ConversationSettings.ts"
import { environmentContext, environmentDiffers } from "../../src/decider/EnvironmentContext.ts"
import { initialEvents } from "../../src/decider/InitialEvents.ts"
import { initialState, numberDrafts } from "../../src/decider/State.ts"
import { withContext } from "../../src/decider/TurnStart.ts"
import { forkLog } from "../forks.ts"
import { toStored, withStored } from "../../src/store/Settings.ts"
import { conversationId, settings, userItem } from "../support.ts"

const workspace = {
  mode: "workspace-write",
  writable_roots: ["/extra", "/a<b&c"],
  network_access: true,
  exclude_tmpdir_env_var: false,
  exclude_slash_tmp: false,
} as const

const textOf = (fields: Partial<ConversationSettings>) =>
  environmentContext({ ...settings, ...fields })

describe("environmentContext", () => {
  it("is one user message in the wire's order and indentation", () => {
    assert.deepStrictEqual(
      textOf({}),
      userItem(`<environment_context>
  <cwd>/work</cwd>
  <approval_policy>never</approval_policy>
  <sandbox_mode>read-only</sandbox_mode>
  <network_access>restricted</network_access>
</environment_context>`),
    )
  })

  it("lists writable roots, and no path starts a tag", () => {
    assert.deepStrictEqual(
      textOf({ sandboxPolicy: workspace, cwd: "/<cwd>&" }),
      userItem(`<environment_context>
  <cwd>/&lt;cwd>&amp;</cwd>
  <approval_policy>never</approval_policy>
  <sandbox_mode>workspace-write</sandbox_mode>
  <network_access>enabled</network_access>
  <writable_roots>
    <root>/extra</root>
    <root>/a&lt;b&amp;c</root>
  </writable_roots>
</environment_context>`),
    )
  })

  it("names the shell last, if there is one", () => {
    assert.deepStrictEqual(
      environmentContext(settings, "zsh"),
      userItem(`<environment_context>
  <cwd>/work</cwd>
  <approval_policy>never</approval_policy>
  <sandbox_mode>read-only</sandbox_mode>
  <network_access>restricted</network_access>
  <shell>zsh</shell>
</environment_context>`),
    )
  })

  it("omits the roots when there are none and names the network access of the policy", () => {
    const networks = (
      [
        { ...workspace, writable_roots: [], network_access: false },
        { mode: "danger-full-access" },
        { mode: "read-only" },
      ] as const
    ).map((sandboxPolicy) => {
      const [part] = textOf({ sandboxPolicy }).content
      const text = part?.type === "input_text" ? part.text : ""
      return [text.includes("enabled"), text.includes("root")]
    })
    assert.deepStrictEqual(networks, [
      [false, false],
      [true, false],
      [false, false],
    ])
  })
})

describe("environmentDiffers", () => {
  it("compares directory, approval policy and sandbox, and nothing else", () => {
    const differs = (fields: Partial<ConversationSettings>) =>
      environmentDiffers(settings, { ...settings, ...fields })
    assert.deepStrictEqual(
      [
        differs({ cwd: "/else" }),
        differs({ approvalPolicy: "untrusted" }),
        differs({ sandboxPolicy: { mode: "danger-full-access" } }),
        environmentDiffers(
          { ...settings, sandboxPolicy: workspace },
          { ...settings, sandboxPolicy: { ...workspace, writable_roots: ["/extra"] } },
        ),
        differs({}),
        differs({ model: "other", effort: "low", sandboxPolicy: { mode: "read-only" } }),
      ],
      [true, true, true, true, false, false],
    )
  })
})

describe("includeEnvironmentContext", () => {
  const without: ConversationSettings = { ...settings, includeEnvironmentContext: false }

  it("false: neither a new conversation nor a changed directory tells the model about the environment", () => {
    assert.deepStrictEqual(
      initialEvents(conversationId, without).map(({ msg }) => msg.type),
      ["session_configured"],
    )
    const moved = withContext(initialState(without), "0", {
      type: "override_turn_context",
      cwd: "/elsewhere",
    })
    assert.deepStrictEqual(moved.events, [])
    assert.strictEqual(moved.state.settings.cwd, "/elsewhere")
  })

  it("is stored with the conversation, and a fork keeps it", () => {
    assert.isFalse(withStored(settings, toStored(without)).includeEnvironmentContext)
    const source = numberDrafts(0, initialEvents(conversationId, without))
    const forked = forkLog(
      source,
      { _tag: "BeforeEvent", seq: 1 },
      { id: conversationId, settings: without },
    )
    assert.deepStrictEqual(
      forked.map(({ msg }) => msg.type),
      ["session_configured"],
    )
  })
})
