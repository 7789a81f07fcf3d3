import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hasBubblewrap } from "./support/Bubblewrap.ts"
import { calls, outputsOf, play, type Response, says, type Scene } from "./support/Machine.ts"
import { comparable, recorded } from "./support/Recording.ts"

const untrusted: Partial<ConversationSettings> = {
  approvalPolicy: "untrusted",
  sandboxPolicy: { mode: "workspace-write" },
}
const readOnly = (approvalPolicy: "on-failure" | "on-request"): Partial<ConversationSettings> => ({
  approvalPolicy,
  sandboxPolicy: { mode: "read-only" },
})
const workspaceWrite: Partial<ConversationSettings> = {
  approvalPolicy: "on-request",
  sandboxPolicy: { mode: "workspace-write" },
}
const open: Partial<ConversationSettings> = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "danger-full-access" },
}

const touch = { command: ["touch", "made.txt"] }
const shell = (args: unknown, id = "a"): Response => [calls("shell", args, id)]
const bash = (script: string, more: object = {}) =>
  shell({ command: ["bash", "-lc", script], ...more })

const patch = (...lines: ReadonlyArray<string>) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")
const goodbye = patch("*** Update File: hello.txt", "@@", "-hello", "+goodbye", " world")

interface Case extends Scene {
  /** Changes a line of the recording where Colloquy differs on purpose from the original. */
  readonly amend?: (message: Record<string, unknown>) => Record<string, unknown>
  readonly needsSandbox?: boolean
}

const cases: Readonly<Record<string, Case>> = {
  approve: {
    settings: untrusted,
    answers: ["approved"],
    responses: [shell(touch), [says("done")]],
  },
  deny: {
    settings: untrusted,
    answers: ["denied"],
    responses: [shell(touch), [says("ok, not done")]],
  },
  approve_for_session: {
    settings: untrusted,
    answers: ["approved_for_session", "denied"],
    responses: [
      shell(touch, "a"),
      shell(touch, "b"),
      [says("done twice")],
      shell(touch, "c"),
      [says("done thrice")],
    ],
    prompts: ["touch it twice", "again"],
  },
  approve_malformed: {
    settings: untrusted,
    answers: ["malformed"],
    responses: [shell(touch), [says("after malformed")]],
  },
  on_failure: {
    settings: readOnly("on-failure"),
    answers: ["approved"],
    responses: [shell(touch), [says("done")]],
    needsSandbox: true,
    // The error text is that of a read-only mount; the exit code is the command's actual one.
    amend: (message) => ({
      ...(JSON.parse(
        JSON.stringify(message)
          .replaceAll("Permission denied", "Read-only file system")
          .replaceAll(`"exit_code":-1`, `"exit_code":1`),
      ) as Record<string, unknown>),
    }),
  },
  on_request_escalated: {
    settings: readOnly("on-request"),
    answers: ["approved"],
    responses: [
      shell({ ...touch, with_escalated_permissions: true, justification: "need to write" }),
      [says("done")],
    ],
    needsSandbox: true,
  },
  trusted_command: {
    settings: untrusted,
    responses: [
      shell({ command: ["cat", "hello.txt"] }, "a"),
      shell({ command: ["ls", "-la"] }, "b"),
      shell({ command: ["bash", "-lc", "cat hello.txt && ls"] }, "c"),
      [says("read it")],
    ],
  },
  patch_fn_approve: {
    settings: untrusted,
    answers: ["approved"],
    responses: [[calls("apply_patch", { input: goodbye }, "a")], [says("patched")]],
  },
  patch_fn_deny: {
    settings: untrusted,
    answers: ["denied"],
    responses: [[calls("apply_patch", { input: goodbye }, "a")], [says("not patched")]],
  },
  patch_heredoc_approve: {
    settings: untrusted,
    answers: ["approved"],
    responses: [bash(`apply_patch <<'EOF'\n${goodbye}\nEOF\n`), [says("patched")]],
  },
  patch_auto: {
    settings: workspaceWrite,
    responses: [
      [
        calls(
          "apply_patch",
          {
            input: patch(
              "*** Add File: sub/new.txt",
              "+new",
              "*** Update File: hello.txt",
              "*** Move to: moved.txt",
              "@@",
              "-hello",
              "+HELLO",
              " world",
            ),
          },
          "a",
        ),
      ],
      [says("patched")],
    ],
    needsSandbox: true,
  },
  patch_bad: {
    settings: untrusted,
    responses: [
      [calls("apply_patch", { input: patch("*** Update File: none.txt", "@@", "-a", "+b") }, "a")],
      [says("gave up")],
    ],
  },
  shell_ok: {
    settings: open,
    responses: [bash("echo out; echo err >&2; pwd"), [says("ran")]],
  },
  shell_fail: {
    settings: open,
    responses: [bash("echo partial; echo oops >&2; exit 3"), [says("it failed")]],
  },
  shell_timeout: {
    settings: open,
    responses: [bash("echo start; sleep 30", { timeout_ms: 700 }), [says("timed out")]],
    // The output until the timeout is kept, and the exit code is that of the shell's `timeout` command.
    amend: (message) =>
      message["type"] === "exec_command_end"
        ? {
            ...message,
            stdout: "start\n",
            stderr: "",
            aggregated_output: "start\n",
            exit_code: 124,
            formatted_output: "command timed out after 700 milliseconds\nstart\n",
          }
        : message,
  },
  shell_preamble: {
    settings: open,
    responses: [
      [says("I will run echo."), calls("shell", { command: ["echo", "hi"] }, "a")],
      [says("ran it")],
    ],
  },
  update_plan: {
    settings: { ...open, includePlanTool: true },
    responses: [
      [
        calls(
          "update_plan",
          {
            explanation: "why",
            plan: [
              { step: "one", status: "completed" },
              { step: "two", status: "in_progress" },
              { step: "three", status: "pending" },
            ],
          },
          "a",
        ),
      ],
      [says("planned")],
    ],
  },
}

const same = (message: Record<string, unknown>) => message

/** Removes the sizes, owners and times that `ls -la` prints, because they differ between directories. */
const withoutListing = (message: unknown): unknown =>
  JSON.parse(
    JSON.stringify(message).replaceAll(/total \d+(?:\\n[-dl][^"]*?)(?:\\n)?"/g, `a listing"`),
  )

describe("recordings of 0.29", () => {
  for (const [name, { amend = same, needsSandbox = false, ...scene }] of Object.entries(cases)) {
    it.live.skipIf(needsSandbox && !hasBubblewrap)(
      `${name} has the same events as the original`,
      () =>
        Effect.gen(function* () {
          const played = yield* play(scene)
          const expected = comparable(recorded(name), "/workspace")
            .map((message) => amend(message as Record<string, unknown>))
            .map(withoutListing)
          const actual = comparable(played.messages, played.workspace).map(withoutListing)
          assert.deepStrictEqual(actual, expected)
        }),
    )
  }

  it.live("abort interrupts the turn, with its event; the command never runs", () =>
    Effect.gen(function* () {
      const played = yield* play({
        settings: untrusted,
        answers: ["abort"],
        responses: [shell(touch), [says("never said")]],
      })
      assert.deepStrictEqual(
        comparable(played.messages, played.workspace),
        comparable(recorded("abort"), "/workspace").slice(0, 3),
      )
      assert.notProperty(played.files, "made.txt")
    }),
  )

  it.live(
    "approve_error denies where the original hung, and the output for the model says so",
    () =>
      Effect.gen(function* () {
        const played = yield* play({
          settings: untrusted,
          answers: ["failed"],
          responses: [shell(touch), [says("ok")]],
        })
        assert.deepStrictEqual(outputsOf(played), [
          "exec command rejected: the answer was invalid or the approval request failed",
        ])
        assert.deepStrictEqual(
          comparable(played.messages, played.workspace).slice(0, 2),
          comparable(recorded("approve_error"), "/workspace").slice(0, 2),
        )
      }),
  )
})
