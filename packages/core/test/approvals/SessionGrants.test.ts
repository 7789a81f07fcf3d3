import { assert, describe, it } from "@effect/vitest"
import type { ApprovalRequest } from "../../src/approvals/Approval.ts"
import { grantFor, grantOf, remember } from "../../src/approvals/SessionGrants.ts"
import { exec, execGrant, patch, tool } from "../approvals.ts"

const covers = (given: ApprovalRequest, later: ApprovalRequest) => {
  const grant = grantOf(given)
  return grant !== undefined && grantFor([grant], later) === grant
}

describe("SessionGrants", () => {
  it("L7 remembers a command by its words, directory and sandbox, and by nothing else", () => {
    assert.strictEqual(grantOf(exec("1")), execGrant)
    assert.isTrue(covers(exec("1", { reason: "why" }), exec("2")))
    const others: ReadonlyArray<Parameters<typeof exec>[1]> = [
      { command: ["git", "push", "--force"] },
      { command: ["git push"] },
      { command: ["git"] },
      { command: ["git", "push", ""] },
      { command: [] },
      { cwd: "/work/" },
      { cwd: "/" },
      { sandbox: { mode: "read-only" } },
      { sandbox: { mode: "workspace-write" } },
    ]
    for (const other of others) {
      assert.isFalse(covers(exec("1"), exec("1", other)), JSON.stringify(other))
      assert.isFalse(covers(exec("1", other), exec("1")), JSON.stringify(other))
      assert.isTrue(covers(exec("1", other), exec("2", other)), JSON.stringify(other))
    }
  })

  it("treats sandboxes with the same meaning as equal, and no others", () => {
    const write = (fields: object) => exec("1", { sandbox: { mode: "workspace-write", ...fields } })
    assert.isTrue(
      covers(
        write({}),
        write({
          writable_roots: [],
          network_access: false,
          exclude_tmpdir_env_var: false,
          exclude_slash_tmp: false,
        }),
      ),
    )
    assert.isTrue(
      covers(
        write({ writable_roots: ["/a", "/b"] }),
        write({ writable_roots: ["/b", "/a", "/b"] }),
      ),
    )
    for (const fields of [
      { writable_roots: ["/a"] },
      { network_access: true },
      { exclude_tmpdir_env_var: true },
      { exclude_slash_tmp: true },
    ]) {
      assert.isFalse(covers(write({}), write(fields)), JSON.stringify(fields))
    }
  })

  it("L7 remembers a tool of the application by its name and its exact arguments", () => {
    assert.isTrue(covers(tool("1", { reason: "why" }), tool("2")))
    for (const other of [
      { tool: "pay" },
      { arguments: { order: "A1", cents: 1201 } },
      { arguments: { order: "A1" } },
      { arguments: null },
    ]) {
      assert.isFalse(covers(tool("1"), tool("1", other)), JSON.stringify(other))
      assert.isFalse(covers(tool("1", other), tool("1")), JSON.stringify(other))
    }
    const words = { tool: "refund", arguments: {} }
    assert.isFalse(covers(tool("1", words), exec("1", { command: ["refund", "{}"] })))
  })

  it("L7 remembers only the grant_root of a patch", () => {
    assert.isUndefined(grantOf(patch("1")))
    const rooted = (path: string, grantRoot = "/work", move: string | null = null) =>
      patch("1", {
        grantRoot,
        changes: { [path]: { update: { unified_diff: "", move_path: move } } },
      })
    assert.isTrue(covers(rooted("/work/a"), rooted("/work/b/c", "/work", "/work/d")))
    assert.isTrue(covers(rooted("/a", "/"), rooted("/b", "/")))
    for (const later of [
      patch("2", { changes: { "/work/a": { delete: { content: "" } } } }),
      rooted("/work/a", "/work/"),
      rooted("/work/a", "/work/a"),
      rooted("/workshop/a"),
      rooted("/work"),
      rooted("/work/../etc/passwd"),
      rooted("/work/./a"),
      rooted("/etc/passwd"),
      rooted("/work/a", "/work", "/etc/passwd"),
      exec("1", { cwd: "/work" }),
    ]) {
      assert.isFalse(covers(rooted("/work/a"), later), JSON.stringify(later))
    }
  })

  it("keeps 1,024 grants at most, each once", () => {
    let grants: ReadonlyArray<string> = []
    for (let i = 0; i < 2000; i++) grants = remember(remember(grants, `g${i}`), `g${i}`)
    assert.deepStrictEqual([grants.length, grants[0], grants.at(-1)], [1024, "g976", "g1999"])
  })
})
