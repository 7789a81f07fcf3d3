import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import type { Confinement } from "@colloquy/core/approvals/Confinement"
import { reasonText } from "@colloquy/core/question/QuestionText"
import type { ApprovalQuestions, AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApplyPatch from "../../src/edit/ApplyPatch.ts"
import type { CommandResult } from "../../src/process/Command.ts"
import type { SandboxStatus } from "../../src/sandbox/Sandbox.ts"
import { shellTools } from "../../src/shell/ShellTool.ts"
import { approved, callOf, watched } from "../support/Context.ts"

const policies: ReadonlyArray<AskForApproval> = ["untrusted", "on-failure", "on-request", "never"]
const sandboxes: ReadonlyArray<SandboxPolicy> = [
  { mode: "read-only" },
  { mode: "workspace-write" },
  { mode: "workspace-write", network_access: true, writable_roots: ["/data"] },
  { mode: "danger-full-access" },
  { mode: "external-sandbox" },
]
const statuses: ReadonlyArray<SandboxStatus> = [
  { _tag: "Available" } as SandboxStatus,
  { _tag: "Unavailable", reason: "no bwrap", advice: "install it" },
]

interface Cell {
  readonly approvalPolicy: AskForApproval
  readonly approvalQuestions?: ApprovalQuestions
  readonly sandboxPolicy: SandboxPolicy
  readonly status: SandboxStatus
}

const cells: ReadonlyArray<Cell> = policies.flatMap((approvalPolicy) =>
  sandboxes.flatMap((sandboxPolicy) =>
    statuses.map((status) => ({ approvalPolicy, sandboxPolicy, status })),
  ),
)

const captured = (text: string) => ({ text, totalBytes: text.length, omittedBytes: 0 })

const ended = (code: number, stdout: string): CommandResult => ({
  exit: { _tag: "Exited", code },
  stdout: captured(stdout),
  stderr: captured(code === 0 ? "" : "Permission denied"),
  aggregated: captured(stdout),
  duration: Duration.zero,
})

/** The confinement that the first line of the question states. */
const promised = (request: ApprovalRequest, cell: Cell): Confinement | "none" | "confined" => {
  const [first = ""] = reasonText(request, { cwd: "/work", ...cell }).split("\n")
  assert.match(first, /^If approved, /)
  const isUnconfined = /without (?:the|a) sandbox/.test(first)
  assert.notStrictEqual(isUnconfined, /in the sandbox/.test(first), first)
  return isUnconfined ? "none" : "confined"
}

/** Runs `touch x` under the cell's settings; a sandbox that confines it denies it. Approves every question. */
const runShell = (cell: Cell, escalated: boolean) =>
  Effect.gen(function* () {
    const ran: Array<Confinement> = []
    const person = watched({ cwd: "/work", ...cell }, { verdict: approved })
    const tools = shellTools({
      resolve: (...parts) => parts.findLast((part) => part !== "") ?? "/",
      directoryAt: (path) => Effect.succeed({ named: path, path, identity: undefined }),
      patchOf: () => undefined,
      sandbox: { status: Effect.succeed(cell.status), confine: () => Effect.die("not used") },
      attempts: {
        commandOf: ({ command }, callId, cwd) => ({
          argv: command,
          callId,
          cwd,
          timeout: Duration.seconds(1),
        }),
        userCommandOf: (line, callId, cwd) => ({
          argv: ["sh", "-c", line],
          callId,
          cwd,
          timeout: Duration.seconds(1),
        }),
        run: (_, confinement) =>
          Effect.sync(() => {
            ran.push(confinement)
            return Result.succeed(ended(confinement === "none" ? 0 : 1, ""))
          }),
        refuse: () => Effect.void,
      },
    })
    const call = callOf("shell", {
      command: ["touch", "x"],
      ...(escalated ? { with_escalated_permissions: true, justification: "I need it" } : {}),
    })
    yield* tools[0]?.run(call, person.context) ?? Effect.die("no shell")
    return { ran, asked: person.asked }
  })

const patchText = `*** Begin Patch
*** Add File: new.txt
+text
*** End Patch`

const runPatch = (cell: Cell, isOutside: boolean) =>
  Effect.gen(function* () {
    let confinement: Confinement = "none"
    const ran: Array<Confinement> = []
    const person = watched({ cwd: "/work", ...cell }, { verdict: approved })
    const apply = ApplyPatch.make({
      node: "/usr/bin/node",
      trustedNode: Effect.succeed("/usr/bin/node"),
      protectedPaths: [],
      resolve: (...parts) => parts.filter((part) => part !== "").join("/"),
      files: {
        readIn: () => () => Effect.succeed({ _tag: "Missing" }),
        canonical: (path) =>
          Effect.succeed(isOutside && path.endsWith("new.txt") ? "/etc/new.txt" : path),
        canonicalParent: Effect.succeed,
      },
      sandbox: {
        status: Effect.succeed(cell.status),
        confine: (command, policy) =>
          Effect.sync(() => {
            confinement = policy
            return { ...command, inputs: new Map(), diesWithParent: true }
          }),
      },
      runner: {
        run: (launch) =>
          Effect.map(Effect.isEffect(launch) ? Effect.scoped(launch) : Effect.void, () => {
            ran.push(confinement)
            const isDenied = confinement !== "none"
            confinement = "none"
            const error = isDenied ? { message: "Permission denied", reason: "" } : null
            return ended(0, JSON.stringify({ done: isDenied ? 0 : 1, error }))
          }),
      },
    })
    yield* apply(patchText, "/work", "c", person.context, () => Effect.undefined)
    return { ran, asked: person.asked }
  })

const nameOf = ({ approvalPolicy, sandboxPolicy, status }: Cell) =>
  `${approvalPolicy}, ${sandboxPolicy.mode}, sandbox ${status._tag}`

describe("what an approval allows", () => {
  it.effect.each(cells.map((cell) => [nameOf(cell), cell] as const))(
    "L7 L15 the question says how the command runs after a yes: %s",
    ([, cell]) =>
      Effect.gen(function* () {
        for (const escalated of [false, true]) {
          const { asked, ran } = yield* runShell(cell, escalated)
          assert.isAtMost(asked.length, 1)
          // The last attempt is the one that follows the question.
          for (const request of asked) {
            assert.strictEqual(promised(request, cell), ran.at(-1) === "none" ? "none" : "confined")
          }
          if (cell.approvalPolicy === "untrusted" && !escalated) assert.lengthOf(asked, 1)
          if (asked.length === 1 && escalated) {
            assert.include(
              reasonText(asked[0] as ApprovalRequest, { cwd: "/work", ...cell }),
              'The model gives this reason: "I need it"',
            )
          }
        }
      }),
  )

  it.effect.each(cells.map((cell) => [nameOf(cell), cell] as const))(
    "L7 L15 the question says how the patch is applied after a yes: %s",
    ([, cell]) =>
      Effect.gen(function* () {
        for (const isOutside of [false, true]) {
          const { asked, ran } = yield* runPatch(cell, isOutside)
          assert.isAtMost(asked.length, 1)
          for (const request of asked) {
            assert.strictEqual(promised(request, cell), ran.at(-1) === "none" ? "none" : "confined")
            const mark =
              'add "/work/new.txt" (leads to "/etc/new.txt", outside the working directory)'
            const text = reasonText(request, { cwd: "/work", ...cell })
            assert.strictEqual(text.includes(mark), isOutside)
          }
          if (cell.approvalPolicy === "untrusted") assert.lengthOf(asked, 1)
        }
      }),
  )
})

describe("without questions about the sandbox", () => {
  const cell: Cell = {
    approvalPolicy: "on-request",
    approvalQuestions: { sandbox: false, permissions: true, tool_servers: true },
    sandboxPolicy: { mode: "workspace-write" },
    status: { _tag: "Available" } as SandboxStatus,
  }
  const missing: Cell = { ...cell, status: { _tag: "Unavailable", reason: "no", advice: "get it" } }

  it.effect("a command that asks to leave the sandbox, or has none, does not run", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* runShell(cell, true), { ran: [], asked: [] })
      assert.deepStrictEqual(yield* runShell(missing, false), { ran: [], asked: [] })
      const { asked, ran } = yield* runShell(cell, false)
      assert.deepStrictEqual([asked, ran], [[], [{ mode: "workspace-write" }]])
    }),
  )

  it.effect("a patch outside the workspace, or without a sandbox, is not written", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* runPatch(cell, true)).asked, [])
      assert.deepStrictEqual((yield* runPatch(missing, false)).asked, [])
    }),
  )

  it.effect("the other switches change nothing of it", () =>
    Effect.gen(function* () {
      const approvalQuestions = { sandbox: true, permissions: false, tool_servers: false }
      const { asked, ran } = yield* runShell({ ...cell, approvalQuestions }, true)
      assert.lengthOf(asked, 1)
      assert.deepStrictEqual(ran, ["none"])
    }),
  )
})
