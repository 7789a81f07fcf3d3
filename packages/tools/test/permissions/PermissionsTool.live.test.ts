/** Tests that the sandbox allows what a person has granted, and nothing else. */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls } from "../support/Machine.ts"
import { perform } from "../support/Stage.ts"

const policies: ReadonlyArray<SandboxPolicy> = [
  { mode: "read-only" },
  { mode: "workspace-write", exclude_slash_tmp: true, exclude_tmpdir_env_var: true },
]

const asks = (paths: ReadonlyArray<string>, callId: string) =>
  calls("request_permissions", { permissions: { file_system: { write: paths } } }, callId)

const writes = (path: string, callId: string) =>
  calls("shell", { command: ["bash", "-c", `echo x > ${path}`] }, callId)

const patches = (path: string, callId: string) =>
  calls(
    "apply_patch",
    { input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` },
    callId,
  )

const prepare = (workspace: string) => {
  Fs.mkdirSync(`${Path.dirname(workspace)}/out/sub`, { recursive: true })
  Fs.mkdirSync(`${Path.dirname(workspace)}/other`)
}

const play = Effect.fnUntraced(function* (
  sandboxPolicy: SandboxPolicy,
  answers: ReadonlyArray<"approved" | "denied">,
) {
  const { messages, outputs, workspace } = yield* perform(
    { prepare },
    {
      settings: { approvalPolicy: "on-request", sandboxPolicy },
      answers,
      responses: [
        [asks(["../out"], "ask")],
        [writes("../out/a", "a"), writes("../out/sub/b", "b"), writes("../other/c", "c")],
        [patches("../out/d", "d")],
      ],
    },
  )
  const parent = Path.dirname(workspace)
  const has = (path: string) => Fs.existsSync(`${parent}/${path}`)
  return { messages, outputs, has, parent }
})

describe.skipIf(!hasBubblewrap)("granted permissions", () => {
  it.live.each(policies)(
    "L15 a granted path is writable for commands and patches, everything else is not: $mode",
    (policy) =>
      Effect.gen(function* () {
        const { has, messages, outputs, parent } = yield* play(policy, ["approved", "denied"])
        assert.strictEqual(
          outputs[0],
          JSON.stringify({
            permissions: { network: null, file_system: { write: [`${parent}/out`] } },
            scope: "turn",
          }),
        )
        assert.deepStrictEqual(["out/a", "out/sub/b", "out/d", "other/c"].map(has), [
          true,
          true,
          true,
          false,
        ])
        assert.isFalse(messages.some(({ type }) => type === "apply_patch_approval_request"))
      }),
  )

  it.live.each(policies)("L15 what is denied stays read-only: $mode", (policy) =>
    Effect.gen(function* () {
      const { has, outputs } = yield* play(policy, ["denied"])
      assert.strictEqual(
        outputs[0],
        '{"permissions":{"network":null,"file_system":null},"scope":"turn"}',
      )
      assert.deepStrictEqual(["out/a", "out/sub/b", "out/d"].map(has), [false, false, false])
    }),
  )

  it.live("L15 asks for the place where a link leads, and for nothing that is protected", () =>
    Effect.gen(function* () {
      const { messages, outputs, workspace } = yield* perform(
        {
          prepare: (ws) => {
            prepare(ws)
            Fs.symlinkSync("../out", `${ws}/link`)
          },
          hiddenPaths: (ws) => [`${Path.dirname(ws)}/other`],
        },
        {
          settings: { approvalPolicy: "on-request", sandboxPolicy: { mode: "workspace-write" } },
          answers: ["denied"],
          responses: [
            [asks(["link"], "link")],
            [asks(["../other"], "hidden"), asks([".git"], "git"), asks(["none"], "none")],
            [asks(["/"], "root"), asks([], "empty")],
          ],
        },
      )
      const asked = messages.flatMap((msg) =>
        msg.type === "request_permissions" ? [msg.permissions] : [],
      )
      assert.deepStrictEqual(asked, [{ write: [`${Path.dirname(workspace)}/out`] }])
      const words = [
        "no tool has access to it",
        "what git keeps for itself stays read-only",
        "nothing is there",
        "expected a path inside of the file system",
        "expected at least one permission",
      ]
      for (const [at, word] of words.entries()) assert.include(outputs[at + 1], word)
    }),
  )
})
