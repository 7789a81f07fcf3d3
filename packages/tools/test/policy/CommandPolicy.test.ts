import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import {
  type CommandDecision,
  type CommandRequest,
  decideCommand,
} from "../../src/policy/CommandPolicy.ts"

const readOnly: SandboxPolicy = { mode: "read-only" }
const workspaceWrite: SandboxPolicy = { mode: "workspace-write", network_access: true }
const fullAccess: SandboxPolicy = { mode: "danger-full-access" }
const external: SandboxPolicy = { mode: "external-sandbox" }

const approvals: ReadonlyArray<AskForApproval> = ["untrusted", "on-failure", "on-request", "never"]
const sandboxes = { readOnly, workspaceWrite, fullAccess, external }
const commands = {
  /** A command that is not known to be safe. */
  unknown: ["touch", "made.txt"],
  safe: ["cat", "hello.txt"],
  /** Several safe commands in a script. */
  script: ["bash", "-lc", "cat hello.txt | head -n 1"],
  /** A command that is safe when its sandbox allows only reading. */
  git: ["git", "status"],
}

const available = { _tag: "Available" } as const
const missing = { _tag: "Unavailable", reason: "no bwrap", advice: "install it" } as const

const request = (fields: Partial<CommandRequest>): CommandRequest => ({
  argv: commands.unknown,
  approvalPolicy: "on-request",
  sandboxPolicy: readOnly,
  sandbox: { _tag: "Available" },
  isGranted: false,
  isEscalated: false,
  ...fields,
})

const said = (name: string) =>
  `approval policy is ${name}; reject command — you should not ask for escalated permissions if the approval policy is ${name}`

/** The meaning of a cell of the table below. */
const meanings = {
  /** Runs unconfined. */
  open: () => ({ _tag: "Run", confinement: "none", escalateOnDenial: false }),
  /** Runs confined by the sandbox policy. */
  kept: (confinement) => ({ _tag: "Run", confinement, escalateOnDenial: false }),
  /** Runs confined by the sandbox policy; asks for an approval when the sandbox denies something. */
  tried: (confinement) => ({ _tag: "Run", confinement, escalateOnDenial: true }),
  /** Runs in a sandbox that allows only reading. */
  read: () => ({ _tag: "Run", confinement: readOnly, escalateOnDenial: false }),
  /** Runs in a sandbox that allows only reading; asks for an approval when the sandbox denies something. */
  readTried: () => ({ _tag: "Run", confinement: readOnly, escalateOnDenial: true }),
  ask: () => ({ _tag: "Ask", thenConfinement: "none" }),
  askMissing: () => ({
    _tag: "Ask",
    reason: "the sandbox is not available: no bwrap (install it)",
    thenConfinement: "none",
  }),
  missing: () => ({
    _tag: "Reject",
    cause: "SandboxUnavailable",
    output: "exec command rejected: the sandbox is not available: no bwrap (install it)",
  }),
  UnlessTrusted: () => ({ _tag: "Reject", cause: "Escalation", output: said("UnlessTrusted") }),
  OnFailure: () => ({ _tag: "Reject", cause: "Escalation", output: said("OnFailure") }),
  Never: () => ({ _tag: "Reject", cause: "Escalation", output: said("Never") }),
} satisfies Readonly<Record<string, (policy: SandboxPolicy) => object>>

type Cell = keyof typeof meanings
type Row = Readonly<Record<keyof typeof commands, Cell>>

const row = (unknown: Cell, git: Cell, safe: Cell): Row => ({ unknown, git, safe, script: safe })
const all = (cell: Cell): Row => row(cell, cell, cell)

/** Decisions without escalation or grant; the second row of each pair applies on a machine without a sandbox. */
const table: Readonly<
  Record<AskForApproval, Readonly<Record<keyof typeof sandboxes, readonly [Row, Row]>>>
> = {
  untrusted: {
    readOnly: [row("ask", "readTried", "read"), all("askMissing")],
    workspaceWrite: [row("ask", "readTried", "read"), all("askMissing")],
    fullAccess: [row("ask", "readTried", "read"), all("ask")],
    external: [all("ask"), all("ask")],
  },
  "on-failure": {
    readOnly: [row("tried", "readTried", "read"), all("askMissing")],
    workspaceWrite: [row("tried", "readTried", "read"), all("askMissing")],
    fullAccess: [all("open"), all("open")],
    external: [all("open"), all("open")],
  },
  "on-request": {
    readOnly: [row("kept", "read", "read"), all("askMissing")],
    workspaceWrite: [row("kept", "read", "read"), all("askMissing")],
    fullAccess: [all("open"), all("open")],
    external: [all("open"), all("open")],
  },
  never: {
    readOnly: [row("kept", "read", "read"), all("missing")],
    workspaceWrite: [row("kept", "read", "read"), all("missing")],
    fullAccess: [all("open"), all("open")],
    external: [all("open"), all("open")],
  },
}

/** Escalated and not granted, on request: a question is asked only where the policy confines. */
const escalated: Readonly<Record<keyof typeof sandboxes, readonly [Row, Row]>> = {
  readOnly: [all("ask"), all("askMissing")],
  workspaceWrite: [all("ask"), all("askMissing")],
  fullAccess: [all("open"), all("open")],
  external: [all("open"), all("open")],
}

const refusals = { untrusted: "UnlessTrusted", "on-failure": "OnFailure", never: "Never" } as const

const keysOf = <A extends object>(record: A) => Object.keys(record) as Array<keyof A>

const everyCell = approvals.flatMap((approvalPolicy) =>
  keysOf(sandboxes).flatMap((sandbox) =>
    [true, false].flatMap((available) =>
      [true, false].flatMap((isGranted) =>
        [true, false].flatMap((isEscalated) =>
          keysOf(commands).map((command) => ({
            approvalPolicy,
            sandbox,
            available,
            isGranted,
            isEscalated,
            command,
          })),
        ),
      ),
    ),
  ),
)

const expected = (cell: (typeof everyCell)[number]): Cell => {
  const { approvalPolicy, available, command, isEscalated, isGranted, sandbox } = cell
  if (isEscalated && approvalPolicy !== "on-request") return refusals[approvalPolicy]
  if (isGranted) return "open"
  const [withSandbox, without] = (isEscalated ? escalated : table[approvalPolicy])[sandbox]
  return (available ? withSandbox : without)[command]
}

const requestOf = (cell: (typeof everyCell)[number]): CommandRequest => ({
  argv: commands[cell.command],
  approvalPolicy: cell.approvalPolicy,
  sandboxPolicy: sandboxes[cell.sandbox],
  sandbox: cell.available ? available : missing,
  isGranted: cell.isGranted,
  isEscalated: cell.isEscalated,
})

describe("CommandPolicy", () => {
  it("L15 decides every cell of the table of approval, sandbox, machine, grant, escalation and command", () => {
    assert.strictEqual(everyCell.length, 4 * 4 * 2 * 2 * 2 * 4)
    for (const cell of everyCell) {
      assert.deepStrictEqual<object>(
        decideCommand(requestOf(cell)),
        meanings[expected(cell)](sandboxes[cell.sandbox]),
        JSON.stringify(cell),
      )
    }
  })

  it("gives the reason when it asks beyond the policy", () => {
    const asks = (fields: Partial<CommandRequest>) => {
      const decision = decideCommand(request(fields))
      return decision._tag === "Ask" ? decision.reason : decision
    }
    assert.isUndefined(asks({ isEscalated: true }))
    assert.isUndefined(asks({ approvalPolicy: "untrusted" }))
    assert.strictEqual(
      asks({ sandbox: missing }),
      "the sandbox is not available: no bwrap (install it)",
    )
  })

  it("asks about scripts that cannot be analysed, and not about those that can", () => {
    const under = (script: string): CommandDecision["_tag"] =>
      decideCommand(request({ approvalPolicy: "untrusted", argv: ["bash", "-lc", script] }))._tag
    assert.strictEqual(under("cat a && ls | wc -l"), "Run")
    assert.strictEqual(under("cat a > b"), "Ask")
    assert.strictEqual(under("cat $(touch a)"), "Ask")
    assert.strictEqual(under("rm -rf /"), "Ask")
    assert.strictEqual(under(""), "Ask")
  })

  const anyCommand = [
    ["cat", "auth.json"],
    ["ls"],
    ["bash", "-lc", "cat a | head"],
    ["touch", "x"],
    ["git", "status"],
    ["git", "push"],
    ["rm", "-rf", "/"],
    ["cargo", "check"],
    ["bash", "-lc", "git status"],
    ["bash", "-lc", "ls > x"],
    ["bash", "-lc", "find . -{delete,x}"],
    ["bash", "-lc", "find . *"],
    ["bash"],
    ["./ls"],
    [""],
    [],
  ]

  it.prop(
    "L15 under a policy that confines no command, known safe or not, runs unconfined without a question or a grant",
    {
      argv: Schema.Literals(anyCommand.map((words) => JSON.stringify(words))),
      approvalPolicy: Schema.Literals(approvals),
      sandboxPolicy: Schema.Literals(["read-only", "workspace-write"]),
      available: Schema.Boolean,
      isEscalated: Schema.Boolean,
    },
    ({ argv, available: canConfine, sandboxPolicy, ...rest }) => {
      const decision = decideCommand(
        request({
          ...rest,
          argv: JSON.parse(argv) as ReadonlyArray<string>,
          sandboxPolicy: { mode: sandboxPolicy },
          sandbox: canConfine ? available : missing,
        }),
      )
      if (decision._tag !== "Run") return
      assert.isTrue(canConfine)
      assert.notStrictEqual(decision.confinement, "none")
      // The confinement never allows more than the sandbox policy.
      const mode = decision.confinement === "none" ? "" : decision.confinement.mode
      assert.include(["read-only", sandboxPolicy], mode)
    },
  )
})
