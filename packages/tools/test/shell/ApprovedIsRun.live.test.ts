/** Tests that an approved command runs in the directory of the question and with the programs of the machine. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { codeOf, textOf } from "../support/CommandOutput.ts"
import { calls, outputsOf, play } from "../support/Machine.ts"
import { perform, stage } from "../support/Stage.ts"

const onRequest = {
  approvalPolicy: "on-request",
  sandboxPolicy: { mode: "workspace-write" },
} as const
const escalated = { with_escalated_permissions: true, justification: "it is needed" }

const questions = (messages: ReadonlyArray<EventMsg>) =>
  messages.flatMap((message) => (message.type === "exec_approval_request" ? [message] : []))

/** A directory beside the workspace with one file in it. */
const elsewhereOf = (workspace: string) => `${Path.dirname(workspace)}/elsewhere`
const prepare = (workspace: string) => {
  Fs.mkdirSync(`${workspace}/out`)
  Fs.mkdirSync(elsewhereOf(workspace))
  Fs.writeFileSync(`${elsewhereOf(workspace)}/precious.txt`, "keep")
}
const isKept = (workspace: string) => Fs.existsSync(`${elsewhereOf(workspace)}/precious.txt`)
const removal = { ...escalated, command: ["bash", "-c", "rm -f ./*; pwd -P"], workdir: "out" }

describe.skipIf(!hasBubblewrap)("the directory of an approved command", () => {
  it.live("L7 L15 a grant for the session does not follow a link that a command put there", () =>
    Effect.gen(function* () {
      const redirect = "rmdir out && ln -s ../elsewhere out"
      const { messages, outputs, workspace } = yield* perform(
        { prepare },
        {
          settings: onRequest,
          answers: ["approved_for_session", "denied"],
          responses: [
            [calls("shell", removal, "first")],
            [calls("shell", removal, "granted")],
            [calls("shell", { command: ["bash", "-c", redirect] }, "redirect")],
            [calls("shell", removal, "redirected")],
          ],
        },
      )
      assert.deepStrictEqual(
        questions(messages).map(({ call_id, cwd }) => [call_id, cwd]),
        [
          ["first", `${workspace}/out`],
          ["redirected", elsewhereOf(workspace)],
        ],
      )
      assert.strictEqual(outputs.at(-1), "exec command rejected by user")
      assert.isTrue(isKept(workspace))
    }),
  )

  it.live("L7 L15 the question shows the real directory and the name that leads to it", () =>
    Effect.gen(function* () {
      const { messages, outputs, workspace } = yield* perform(
        {
          prepare: (ws) => {
            prepare(ws)
            Fs.symlinkSync("out", `${ws}/lnk`)
          },
        },
        {
          settings: onRequest,
          answers: ["approved"],
          responses: [
            [calls("shell", { ...escalated, command: ["pwd"], workdir: "lnk" }, "named")],
            [calls("shell", { ...escalated, command: ["pwd"], workdir: "out" }, "plain")],
          ],
        },
      )
      const [named, plain] = questions(messages)
      assert.deepStrictEqual([named?.cwd, plain?.cwd], [`${workspace}/out`, `${workspace}/out`])
      const words = "symbolic links lead from the one that the call named"
      assert.include(named?.reason, words)
      assert.include(named?.reason, `${workspace}/lnk`)
      assert.notInclude(plain?.reason, words)
      assert.strictEqual(textOf(outputs[0]), `${workspace}/out\n`)
    }),
  )

  const swaps: ReadonlyArray<readonly [string, (workspace: string) => void]> = [
    [
      "is replaced by a link",
      (ws) => {
        Fs.renameSync(`${ws}/out`, `${ws}/moved`)
        Fs.symlinkSync(elsewhereOf(ws), `${ws}/out`)
      },
    ],
    [
      "is replaced by another directory",
      (ws) => {
        Fs.renameSync(`${ws}/out`, `${ws}/moved`)
        Fs.renameSync(elsewhereOf(ws), `${ws}/out`)
        Fs.cpSync(`${ws}/out`, elsewhereOf(ws), { recursive: true })
      },
    ],
    ["is removed", (ws) => Fs.rmSync(`${ws}/out`, { recursive: true })],
  ]
  for (const [what, swap] of swaps) {
    it.live(`L7 L15 nothing runs where the directory ${what} while the question is pending`, () =>
      Effect.gen(function* () {
        const { begin, workspace } = yield* stage({ prepare })
        const actor = yield* begin({
          settings: { ...onRequest, unattended: "park" },
          responses: [[calls("shell", removal, "a")]],
        })
        yield* actor.until(({ type }) => type === "exec_approval_request")
        swap(workspace)
        yield* actor.answer("a", "approved")
        assert.deepStrictEqual(yield* actor.outputs, [
          "exec command rejected: the working directory changed while the question was open; nothing was run",
        ])
        assert.isFalse(actor.messages.some(({ type }) => type === "exec_command_begin"))
        assert.isTrue(isKept(workspace))
      }),
    )
  }

  it.live(
    "L7 L15 a link that changes its target while the question is pending changes nothing",
    () =>
      Effect.gen(function* () {
        const { begin, workspace } = yield* stage({
          prepare: (ws) => {
            prepare(ws)
            Fs.symlinkSync("out", `${ws}/lnk`)
          },
        })
        const actor = yield* begin({
          settings: { ...onRequest, unattended: "park" },
          responses: [[calls("shell", { ...removal, workdir: "lnk" }, "a")]],
        })
        yield* actor.until(({ type }) => type === "exec_approval_request")
        Fs.rmSync(`${workspace}/lnk`)
        Fs.symlinkSync("../elsewhere", `${workspace}/lnk`)
        yield* actor.answer("a", "approved")
        const outputs = yield* actor.outputs
        assert.strictEqual(textOf(outputs[0]), `${workspace}/out\n`)
        assert.isTrue(isKept(workspace))
      }),
  )
})

describe.skipIf(!hasBubblewrap)("the programs of an approved command", () => {
  const plant =
    "mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho planted\\n' > node_modules/.bin/ls; chmod +x node_modules/.bin/ls"

  const planted = (settings: Parameters<typeof play>[0]["settings"], rest = ":/usr/bin:/bin") =>
    play({
      settings,
      answers: ["approved"],
      environment: (workspace) => ({ PATH: `${workspace}/node_modules/.bin${rest}` }),
      responses: [
        [calls("shell", { command: ["/bin/bash", "-c", `PATH=/usr/bin:/bin; ${plant}`] }, "plant")],
        [
          calls("shell", { ...escalated, command: ["ls", "hello.txt"] }, "word"),
          calls("shell", { ...escalated, command: ["bash", "-c", "ls hello.txt"] }, "script"),
        ],
      ],
    })

  for (const [what, rest] of [
    ["before the directories of the system", ":/usr/bin:/bin"],
    ["as the only entry", ""],
  ] as const) {
    it.live(`L7 L15 a program that a command planted on PATH does not run: ${what}`, () =>
      Effect.gen(function* () {
        const played = yield* planted(onRequest, rest)
        assert.lengthOf(questions(played.messages), 2)
        const [made, ...listed] = outputsOf(played)
        assert.strictEqual(codeOf(made), 0)
        assert.deepStrictEqual(listed.map(textOf), ["hello.txt\n", "hello.txt\n"])
      }),
    )
  }

  it.live("commands have the PATH of the server when a policy confines nothing", () =>
    Effect.gen(function* () {
      const played = yield* play({
        settings: { approvalPolicy: "never", sandboxPolicy: { mode: "danger-full-access" } },
        environment: (workspace) => ({ PATH: `${workspace}/node_modules/.bin:/usr/bin:/bin` }),
        responses: [
          [calls("shell", { command: ["bash", "-c", plant] }, "plant")],
          [calls("shell", { command: ["ls", "hello.txt"] }, "word")],
        ],
      })
      assert.strictEqual(textOf(outputsOf(played)[1]), "planted\n")
    }),
  )
})
