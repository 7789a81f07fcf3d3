import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import {
  decidePatch,
  type PatchDecision,
  type PatchRequest,
  touchedPaths,
} from "../../src/policy/PatchPolicy.ts"
import { writableRoots } from "../../src/policy/WritableRoots.ts"

const readOnly: SandboxPolicy = { mode: "read-only" }
const workspaceWrite: SandboxPolicy = { mode: "workspace-write" }
const fullAccess: SandboxPolicy = { mode: "danger-full-access" }
const external: SandboxPolicy = { mode: "external-sandbox" }
const sandboxes = { readOnly, workspaceWrite, fullAccess, external }

const request = (
  sandboxPolicy: SandboxPolicy,
  fields: Partial<PatchRequest> & Pick<PatchRequest, "paths">,
): PatchRequest => ({
  approvalPolicy: "on-request",
  sandboxPolicy,
  writable: writableRoots(sandboxPolicy, {
    cwd: "/w",
    slashTmpIsDirectory: false,
    protectedPaths: ["/w/state"],
  }),
  sandbox: { _tag: "Available" },
  isGranted: false,
  ...fields,
})

const missing = "the sandbox is not available: no bwrap (install it)"
const outside = "patch rejected: writing outside of the project; rejected by user approval settings"

const meanings = {
  open: (): PatchDecision => ({ _tag: "Apply", confinement: "none", escalateOnDenial: false }),
  kept: (): PatchDecision => ({
    _tag: "Apply",
    confinement: workspaceWrite,
    escalateOnDenial: false,
  }),
  tried: (): PatchDecision => ({
    _tag: "Apply",
    confinement: workspaceWrite,
    escalateOnDenial: true,
  }),
  triedReadOnly: (): PatchDecision => ({
    _tag: "Apply",
    confinement: readOnly,
    escalateOnDenial: true,
  }),
  ask: (): PatchDecision => ({ _tag: "Ask", thenConfinement: "none" }),
  askKept: (): PatchDecision => ({ _tag: "Ask", thenConfinement: workspaceWrite }),
  askMissing: (): PatchDecision => ({ _tag: "Ask", reason: missing, thenConfinement: "none" }),
  outside: (): PatchDecision => ({ _tag: "Reject", cause: "OutsideRoots", output: outside }),
  missing: (): PatchDecision => ({
    _tag: "Reject",
    cause: "SandboxUnavailable",
    output: `patch rejected: ${missing}`,
  }),
}

type Cell = keyof typeof meanings

/** Decisions inside and outside of the workspace, then the same on a machine without a sandbox. */
const table: Readonly<
  Record<
    AskForApproval,
    Readonly<Record<keyof typeof sandboxes, readonly [Cell, Cell, Cell, Cell]>>
  >
> = {
  untrusted: {
    readOnly: ["ask", "ask", "askMissing", "askMissing"],
    workspaceWrite: ["askKept", "ask", "askMissing", "askMissing"],
    fullAccess: ["ask", "ask", "ask", "ask"],
    external: ["ask", "ask", "ask", "ask"],
  },
  "on-failure": {
    readOnly: ["triedReadOnly", "triedReadOnly", "askMissing", "askMissing"],
    workspaceWrite: ["tried", "tried", "askMissing", "askMissing"],
    fullAccess: ["open", "open", "open", "open"],
    external: ["open", "open", "open", "open"],
  },
  "on-request": {
    readOnly: ["ask", "ask", "askMissing", "askMissing"],
    workspaceWrite: ["kept", "ask", "askMissing", "askMissing"],
    fullAccess: ["open", "open", "open", "open"],
    external: ["open", "open", "open", "open"],
  },
  never: {
    readOnly: ["outside", "outside", "outside", "outside"],
    workspaceWrite: ["kept", "outside", "missing", "outside"],
    fullAccess: ["open", "open", "open", "open"],
    external: ["open", "open", "open", "open"],
  },
}

const inside = ["/w/a", "/w/b/c"]
const outsides: ReadonlyArray<ReadonlyArray<string>> = [
  ["/etc/a"],
  ["/w/a", "/etc/a"],
  ["/w/../etc/a"],
  ["/w/.git/hooks/pre-commit"],
  ["/w/state/log"],
  ["a"],
]

const keysOf = <A extends object>(record: A) => Object.keys(record) as Array<keyof A>

describe("PatchPolicy", () => {
  it("L15 decides every cell of the table of approval, sandbox, machine and place", () => {
    for (const approvalPolicy of keysOf(table)) {
      for (const mode of keysOf(sandboxes)) {
        table[approvalPolicy][mode].forEach((cell, column) => {
          const sandbox: PatchRequest["sandbox"] =
            column < 2
              ? { _tag: "Available" }
              : { _tag: "Unavailable", reason: "no bwrap", advice: "install it" }
          for (const paths of column % 2 === 0 ? [inside] : outsides) {
            assert.deepStrictEqual(
              decidePatch(request(sandboxes[mode], { approvalPolicy, paths, sandbox })),
              meanings[cell](),
              `${approvalPolicy} ${mode} ${column} ${paths.join(" ")}`,
            )
          }
        })
      }
    }
  })

  it("refuses an empty patch under every policy, granted or not", () => {
    for (const approvalPolicy of keysOf(table)) {
      for (const policy of Object.values(sandboxes)) {
        for (const isGranted of [true, false]) {
          assert.deepStrictEqual(
            decidePatch(request(policy, { approvalPolicy, paths: [], isGranted })),
            { _tag: "Reject", cause: "Empty", output: "patch rejected: empty patch" },
          )
        }
      }
    }
  })

  it("L15 does not ask again about what was granted, and opens no more than needed", () => {
    for (const approvalPolicy of keysOf(table)) {
      assert.deepStrictEqual(
        decidePatch(request(workspaceWrite, { approvalPolicy, paths: inside, isGranted: true })),
        meanings.kept(),
      )
      assert.deepStrictEqual(
        decidePatch(
          request(workspaceWrite, { approvalPolicy, paths: ["/etc/a"], isGranted: true }),
        ),
        meanings.open(),
      )
    }
  })

  it("counts the target of a move among the paths", () => {
    const update = (move_path: string | null) => ({ update: { unified_diff: "", move_path } })
    const paths = touchedPaths({
      "/w/a": { add: { content: "" } },
      "/w/b": { delete: { content: "" } },
      "/w/c": update(null),
      "/w/d": update("/etc/d"),
    })
    assert.deepStrictEqual(paths, ["/w/a", "/w/b", "/w/c", "/w/d", "/etc/d"])
    assert.deepStrictEqual(
      decidePatch(request(workspaceWrite, { approvalPolicy: "never", paths })),
      meanings.outside(),
    )
  })
})
