/**
 * Attempts to read a secret, or to have a planted program run, on machines that cannot confine: without a sandbox, and
 * with one that fails after it was found. Each is tried once more with the protection removed, which here is the policy.
 */
import type { AskForApproval, SandboxMode } from "@colloquy/protocol/Policy"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls } from "../support/Machine.ts"
import { perform, type StageOptions } from "../support/Stage.ts"

const secret = "sk-secret-of-the-state"

const planted = (program: string, directory: string): void => {
  const text = `#!/bin/sh\necho ${secret}\n`
  Fs.writeFileSync(`${directory}/${program}`, text, { mode: 0o755 })
}

/** A directory of programs that a workspace has put on the PATH of the server. */
const bin = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = Fs.mkdtempSync(`${Os.tmpdir()}/planted-`)
    for (const program of ["nl", "git"]) planted(program, directory)
    return directory
  }),
  (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, force: true })),
)

const patch = `*** Begin Patch\n*** Add File: made.txt\n+${secret}\n*** End Patch`

interface Attack {
  readonly name: string
  readonly call: readonly [tool: string, args: unknown]
  /** Type of the question that the attempt causes. */
  readonly question: "exec_approval_request" | "apply_patch_approval_request"
}

const shell = (name: string, command: ReadonlyArray<string>): Attack => ({
  name,
  call: ["shell", { command }],
  question: "exec_approval_request",
})

const attacks: ReadonlyArray<Attack> = [
  shell("a command that is known to read", ["cat", "state/auth.json"]),
  shell("a search", ["grep", "-r", "secret", "state"]),
  shell("a script of such commands", ["bash", "-lc", "cat state/auth.json | head -n 1"]),
  shell("a planted program with the name of one", ["nl", "hello.txt"]),
  shell("a planted program that reads when confined", ["git", "status"]),
  shell("any other command", ["cp", "state/auth.json", "made.txt"]),
  {
    name: "a patch",
    call: ["apply_patch", { input: patch }],
    question: "apply_patch_approval_request",
  },
]

const machines = {
  "without a sandbox": {
    options: { sandboxMissing: "bwrap was not found" },
    says: "the sandbox is not available: bwrap was not found (install one)",
  },
  "whose sandbox was removed": {
    options: { sandboxFault: "removed" },
    says: 'the sandbox did not start: program not found, or what its first line asks for: "/nonexistent/bwrap" (install bubblewrap',
  },
  "that no longer permits its sandbox": {
    options: { sandboxFault: "refused" },
    says: "the sandbox did not start: bwrap: No permissions to create new namespace, likely because of the kernel (allow user namespaces",
  },
} satisfies Readonly<Record<string, { readonly options: StageOptions; readonly says: string }>>

const tryOn = Effect.fnUntraced(function* (
  options: StageOptions,
  { call: [tool, args] }: Attack,
  policy: AskForApproval,
  mode: SandboxMode,
) {
  const directory = yield* bin
  const { messages, outputs, workspace } = yield* perform(
    {
      ...options,
      environment: { PATH: `${directory}:${process.env["PATH"]}` },
      prepare: (ws) => {
        Fs.mkdirSync(`${ws}/state`)
        Fs.writeFileSync(`${ws}/state/auth.json`, `${secret}\n`)
      },
    },
    {
      settings: { approvalPolicy: policy, sandboxPolicy: { mode } },
      answers: ["denied"],
      responses: [[calls(tool, args, "a")]],
    },
  )
  const made = `${workspace}/made.txt`
  const file = Fs.existsSync(made) ? Fs.readFileSync(made, "utf8") : ""
  return {
    messages,
    output: outputs[0] ?? "",
    escaped: `${outputs.join()}${file}`.includes(secret),
  }
})

const questions = (messages: ReadonlyArray<EventMsg>) =>
  messages.flatMap((message) =>
    message.type === "exec_approval_request" || message.type === "apply_patch_approval_request"
      ? [message]
      : [],
  )

/** Why the tool asks: the quoted lines of the question that follow these words, as one text. */
const causeOf = (question = ""): string =>
  Array.from(
    question.split("It is asked because:")[1]?.matchAll(/"(?:[^"\\]|\\.)*"/g) ?? [],
    ([line]): string => JSON.parse(line),
  ).join("")

/** Modes to try. A patch is tried only in modes that allow writing, because only there the missing sandbox decides. */
const modesOf = ({ question }: Attack): ReadonlyArray<SandboxMode> =>
  question === "exec_approval_request" ? ["read-only", "workspace-write"] : ["workspace-write"]

describe("a machine that cannot confine", () => {
  for (const [machine, { options, says }] of Object.entries(machines)) {
    for (const attack of attacks) {
      for (const mode of modesOf(attack)) {
        it.live(`L15 one ${machine} refuses under never, ${mode}: ${attack.name}`, () =>
          Effect.gen(function* () {
            const { escaped, messages, output } = yield* tryOn(options, attack, "never", mode)
            assert.isFalse(escaped)
            assert.include(output, says.slice(0, 40))
            assert.deepStrictEqual(questions(messages), [])
          }),
        )

        for (const policy of ["untrusted", "on-failure", "on-request"] as const) {
          it.live(`L15 one ${machine} asks under ${policy}, ${mode}: ${attack.name}`, () =>
            Effect.gen(function* () {
              const { escaped, messages, output } = yield* tryOn(options, attack, policy, mode)
              assert.isFalse(escaped)
              assert.match(output, /rejected by user|the sandbox did not start/)
              const [asked, ...more] = questions(messages)
              assert.strictEqual(asked?.type, attack.question)
              assert.deepStrictEqual(more, [])
              // Under `untrusted` the question comes before the sandbox is needed.
              if (policy !== "untrusted" || "sandboxMissing" in options) {
                assert.isTrue(causeOf(asked?.reason).startsWith(says), asked?.reason)
              }
            }),
          )
        }
      }
      it.live(`without the protection it gets through on one ${machine}: ${attack.name}`, () =>
        Effect.gen(function* () {
          const found = yield* tryOn(options, attack, "never", "danger-full-access")
          assert.isTrue(found.escaped, found.output)
        }),
      )
    }
  }
})

describe("a model that asks for escalation", () => {
  const attack: Attack = {
    name: "a command that is known to read",
    call: ["shell", { command: ["cat", "state/auth.json"], with_escalated_permissions: true }],
    question: "exec_approval_request",
  }

  it.live.skipIf(!hasBubblewrap)(
    "L15 is asked about, also for a command that is known to read",
    () =>
      Effect.gen(function* () {
        const { escaped, messages } = yield* tryOn({}, attack, "on-request", "workspace-write")
        assert.isFalse(escaped)
        assert.strictEqual(questions(messages).length, 1)
      }),
  )
})
