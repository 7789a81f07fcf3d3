import { assert, describe, it } from "@effect/vitest"
import { infoOf, methodsOf } from "../../src/Method.ts"
import { AppServerV2 } from "../../src/thread/AppServerV2.ts"
import { experimentalUseOf } from "../../src/thread/Experimental.ts"
import { ThreadSettingsUpdate } from "../../src/thread/ThreadChanges.ts"
import { ThreadResume, ThreadStart } from "../../src/thread/Threads.ts"
import { TurnStart } from "../../src/thread/Turns.ts"

const granular = {
  granular: {
    sandbox_approval: true,
    rules: true,
    skill_approval: true,
    request_permissions: true,
    mcp_elicitations: true,
  },
}

describe("the experimental gate", () => {
  const start = experimentalUseOf(ThreadStart)

  it("names the method, the member or the value", () => {
    assert.strictEqual(experimentalUseOf(ThreadSettingsUpdate)({}), "thread/settings/update")
    assert.strictEqual(start({ permissions: ":read-only" }), "thread/start.permissions")
    assert.strictEqual(start({ environments: [] }), "thread/start.environments")
    assert.strictEqual(start({ approvalPolicy: granular }), "askForApproval.granular")
    assert.strictEqual(
      experimentalUseOf(TurnStart)({ approvalPolicy: granular }),
      "askForApproval.granular",
    )
    assert.strictEqual(experimentalUseOf(ThreadResume)({ path: "/x" }), "thread/resume.path")
  })

  it("lets null, switches that are off, and everything else through", () => {
    for (const params of [
      undefined,
      {},
      { permissions: null, environments: null },
      { experimentalRawEvents: false },
      { approvalPolicy: "never", sandbox: "read-only", later: 1 },
    ]) {
      assert.isUndefined(start(params))
    }
  })

  it("names only members that the params have", () => {
    for (const method of methodsOf(AppServerV2.clientToServer).values()) {
      const { experimental } = infoOf(method)
      if (experimental === undefined || experimental === true) continue
      const { ast } = method.payloadSchema
      const members =
        ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
      assert.includeMembers(members, [...experimental], method._tag)
    }
  })
})
