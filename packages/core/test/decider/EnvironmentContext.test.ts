import { assert, describe, it } from "@effect/vitest"
import type { ConversationSettings } from "../../src/ConversationSettings.ts"
import { environmentContext, environmentDiffers } from "../../src/decider/EnvironmentContext.ts"
import { settings, userItem } from "../support.ts"

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
