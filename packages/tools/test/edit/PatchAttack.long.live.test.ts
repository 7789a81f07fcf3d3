import type { AskForApproval, SandboxMode, SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls } from "../support/Machine.ts"
import { stage } from "../support/Stage.ts"

const patch = (...lines: ReadonlyArray<string>) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")
const add = (path: string) => patch(`*** Add File: ${path}`, "+new")
const change = (path: string) => patch(`*** Update File: ${path}`, "@@", "-old", "+new")

/** Creates, beside the workspace, a file and a directory that no patch may reach without an approval. */
const prepare = (ws: string): void => {
  const outside = `${ws}/../outside`
  Fs.mkdirSync(`${outside}/dir`, { recursive: true })
  Fs.writeFileSync(`${outside}/file`, "old\n")
  Fs.symlinkSync("../outside", `${ws}/linked-dir`)
  Fs.symlinkSync("../outside/file", `${ws}/linked-file`)
  Fs.symlinkSync("linked-dir/dir", `${ws}/linked-twice`)
  Fs.mkdirSync(`${ws}/sub/.git`, { recursive: true })
  Fs.writeFileSync(`${ws}/.git/config`, "old\n")
  Fs.symlinkSync(".git", `${ws}/linked-git`)
}

/** All files below a directory with their relative paths; the content of a link is its target. */
const filesBelow = (root: string, at = ""): ReadonlyArray<readonly [string, string]> =>
  Fs.readdirSync(`${root}/${at}`, { withFileTypes: true }).flatMap((entry) => {
    const path = at === "" ? entry.name : `${at}/${entry.name}`
    if (entry.isDirectory()) return filesBelow(root, path)
    const full = `${root}/${path}`
    return [
      [
        path,
        entry.isSymbolicLink() ? `-> ${Fs.readlinkSync(full)}` : Fs.readFileSync(full, "utf8"),
      ],
    ]
  })

const snapshot = (workspace: string): Readonly<Record<string, string>> =>
  Object.fromEntries(filesBelow(Fs.realpathSync(`${workspace}/..`)))

const without = (files: Readonly<Record<string, string>>, names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name)))

/** Each way: its name, the patch, and the file that the patch would write if it were allowed. */
const ways: ReadonlyArray<readonly [string, (ws: string) => string, string]> = [
  ["through a linked directory", () => add("linked-dir/made"), "outside/made"],
  ["through links to links", () => add("linked-twice/made"), "outside/dir/made"],
  ["through a linked file", () => change("linked-file"), "outside/file"],
  ["by ..", () => add("../outside/made"), "outside/made"],
  ["by .. from within", () => add("sub/../../outside/made"), "outside/made"],
  ["by an absolute path", (ws) => add(`${ws}/../outside/made`), "outside/made"],
  ["into .git", () => add(".git/hooks/pre-commit"), "ws/.git/hooks/pre-commit"],
  ["into the settings of .git", () => change(".git/config"), "ws/.git/config"],
  ["into .git by a link", () => add("linked-git/made"), "ws/.git/made"],
  ["into a deeper .git", () => add("sub/.git/made"), "ws/sub/.git/made"],
  ["into .git in another case", () => add(".GIT/made"), "ws/.GIT/made"],
  [
    "by moving out",
    () =>
      patch("*** Update File: hello.txt", "*** Move to: ../outside/made", "@@", "-hello", "+new"),
    "outside/made",
  ],
]

interface Rule {
  readonly policy: AskForApproval
  readonly mode: SandboxMode
  readonly answer?: "approved" | "denied"
  /** The output for the model; undefined: the patch was applied. */
  readonly refusal?: string
}

const outsideRefused =
  "patch rejected: writing outside of the project; rejected by user approval settings"

const rules: ReadonlyArray<Rule> = [
  { policy: "on-request", mode: "workspace-write", answer: "approved" },
  {
    policy: "on-request",
    mode: "workspace-write",
    answer: "denied",
    refusal: "patch rejected by user",
  },
  {
    policy: "on-request",
    mode: "workspace-write",
    refusal: "patch rejected: no client is available to approve it",
  },
  {
    policy: "untrusted",
    mode: "danger-full-access",
    answer: "denied",
    refusal: "patch rejected by user",
  },
  { policy: "never", mode: "workspace-write", refusal: outsideRefused },
  { policy: "never", mode: "read-only", refusal: outsideRefused },
  { policy: "never", mode: "danger-full-access" },
]

const needsSandbox = (mode: SandboxMode) => mode !== "danger-full-access"

/** Excludes the directory for temporary files, because the files beside the workspace are in it. */
const sandboxPolicyOf = (mode: SandboxMode): SandboxPolicy =>
  mode === "workspace-write"
    ? { mode, exclude_slash_tmp: true, exclude_tmpdir_env_var: true }
    : { mode }

describe("patches with paths outside the allowed places", () => {
  for (const { answer, mode, policy, refusal } of rules) {
    for (const [way, textOf, target] of ways) {
      const title = `${policy}, ${mode}${answer === undefined ? "" : `, ${answer}`}: ${way}`
      it.live.skipIf(needsSandbox(mode) && !hasBubblewrap)(`L15 ${title}`, () =>
        Effect.gen(function* () {
          const { begin, workspace } = yield* stage({ prepare })
          const before = snapshot(workspace)
          const { messages, outputs } = yield* begin({
            settings: { approvalPolicy: policy, sandboxPolicy: sandboxPolicyOf(mode) },
            ...(answer === undefined ? {} : { answers: [answer] }),
            responses: [[calls("apply_patch", { input: textOf(workspace) }, "a")]],
          })
          const texts = yield* outputs
          const types = messages.map(({ type }) => type)
          const after = snapshot(workspace)
          if (refusal === undefined) {
            assert.include(texts[0], "Success. Updated the following files:")
            assert.include(["new\n", "new\nworld\n"], after[target])
            const rest = without(after, [target, "ws/hello.txt"])
            assert.deepStrictEqual(rest, without(before, [target, "ws/hello.txt"]))
          } else {
            assert.deepStrictEqual(texts, [refusal])
            assert.deepStrictEqual(after, before)
            assert.notInclude(types, "patch_apply_begin")
          }
          const isAsked = types.includes("apply_patch_approval_request")
          assert.strictEqual(isAsked, answer !== undefined)
          assert.strictEqual(types.at(-1), "task_complete")
        }),
      )
    }
  }
})
