import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { permissionsTool } from "../../src/permissions/PermissionsTool.ts"
import { callOf, watched } from "../support/Context.ts"

const tool = permissionsTool({
  resolve: (...parts) => parts.at(-1) ?? "",
  directoryAt: (named) =>
    Effect.succeed({ named, path: named, identity: { device: 1n, inode: 1n, links: 1n } }),
  hiddenPaths: [],
  remember: () => Effect.void,
})

const args = {
  reason: "need network",
  permissions: { network: { enabled: true }, file_system: { read: null, write: ["/var/tmp"] } },
}

const sandboxPolicy = { mode: "workspace-write" } as const

describe("request_permissions", () => {
  it("is offered where the sandbox confines and a person may be asked", () => {
    const offered = (settings: object) =>
      tool.spec(watched(settings).context.settings) !== undefined
    assert.isTrue(offered({ approvalPolicy: "on-request", sandboxPolicy }))
    assert.isTrue(offered({ approvalPolicy: "untrusted", sandboxPolicy: { mode: "read-only" } }))
    assert.isFalse(offered({ approvalPolicy: "never", sandboxPolicy }))
    const open = { mode: "danger-full-access" } as const
    assert.isFalse(offered({ approvalPolicy: "on-request", sandboxPolicy: open }))
  })

  it.effect("asks, and tells what was granted in the form of the original", () =>
    Effect.gen(function* () {
      const permissions = { network: true, write: ["/var/tmp"] }
      const { asked, context } = watched(
        { approvalPolicy: "on-request", sandboxPolicy, cwd: "/work" },
        { verdict: { decision: "approved", reason: "answered", permissions } },
      )
      const { output } = yield* tool.run(callOf("request_permissions", args), context)
      assert.deepStrictEqual(asked, [
        { _tag: "Permissions", callId: "c", permissions, cwd: "/work", justification: args.reason },
      ])
      assert.strictEqual(
        output,
        '{"permissions":{"network":{"enabled":true},"file_system":{"write":["/var/tmp"]}},"scope":"turn"}',
      )
    }),
  )

  it.effect("neither offers nor asks where the settings allow no such question", () =>
    Effect.gen(function* () {
      const switched = (permissions: boolean) =>
        watched({
          approvalPolicy: "on-request",
          approvalQuestions: { sandbox: !permissions, permissions, tool_servers: !permissions },
          sandboxPolicy,
        })
      assert.isDefined(tool.spec(switched(true).context.settings))
      const { asked, context } = switched(false)
      assert.isUndefined(tool.spec(context.settings))
      assert.isTrue((yield* tool.run(callOf("request_permissions", args), context)).isRefused)
      assert.deepStrictEqual(asked, [])
    }),
  )

  it.effect("asks nobody under the policy never", () =>
    Effect.gen(function* () {
      const { asked, context } = watched({ approvalPolicy: "never", sandboxPolicy })
      const result = yield* tool.run(callOf("request_permissions", args), context)
      assert.isTrue(result.isRefused)
      assert.deepStrictEqual(asked, [])
    }),
  )
})
