import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { textOf } from "../support/CommandOutput.ts"
import { calls } from "../support/Machine.ts"
import { stage } from "../support/Stage.ts"

const patch = (...lines: ReadonlyArray<string>) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")

describe("a place that changes while a question is pending", () => {
  const cases: ReadonlyArray<readonly [string, string, (ws: string) => void, string]> = [
    [
      "a directory that becomes a link",
      patch("*** Add File: dir/made", "+new"),
      (ws) => {
        Fs.rmdirSync(`${ws}/dir`)
        Fs.symlinkSync("../elsewhere", `${ws}/dir`)
      },
      "made",
    ],
    [
      "a link that leads elsewhere",
      patch("*** Update File: link", "@@", "-same", "+new"),
      (ws) => {
        Fs.rmSync(`${ws}/link`)
        Fs.symlinkSync("../elsewhere/same", `${ws}/link`)
      },
      "same",
    ],
  ]
  for (const [name, input, change, file] of cases) {
    it.live(`L15 ${name}: what was approved is not done there`, () =>
      Effect.gen(function* () {
        const { begin, workspace } = yield* stage({
          prepare: (ws) => {
            Fs.mkdirSync(`${ws}/dir`)
            Fs.mkdirSync(`${ws}/../elsewhere`)
            Fs.writeFileSync(`${ws}/same`, "same\n")
            Fs.writeFileSync(`${ws}/../elsewhere/same`, "same\n")
            Fs.symlinkSync("same", `${ws}/link`)
          },
        })
        const actor = yield* begin({
          settings: {
            approvalPolicy: "untrusted",
            sandboxPolicy: { mode: "danger-full-access" },
            unattended: "park",
          },
          responses: [[calls("apply_patch", { input }, "a")]],
        })
        yield* actor.until(({ type }) => type === "apply_patch_approval_request")
        change(workspace)
        yield* actor.answer("a", "approved", "patch_approval")
        const elsewhere = `${Fs.realpathSync(`${workspace}/../elsewhere`)}/${file}`
        const [output] = yield* actor.outputs
        assert.include(textOf(output), `it leads to ${elsewhere}, outside of what may be written`)
        assert.deepStrictEqual(Fs.readdirSync(`${workspace}/../elsewhere`), ["same"])
        assert.strictEqual(Fs.readFileSync(`${workspace}/../elsewhere/same`, "utf8"), "same\n")
      }),
    )
  }

  it.live("an unchanged link is followed by an update, and removed itself by a deletion", () =>
    Effect.gen(function* () {
      const { begin, workspace } = yield* stage({
        prepare: (ws) => {
          Fs.writeFileSync(`${ws}/same`, "same\n")
          Fs.symlinkSync("same", `${ws}/link`)
          Fs.symlinkSync("same", `${ws}/other`)
        },
      })
      const { outputs } = yield* begin({
        settings: { approvalPolicy: "never", sandboxPolicy: { mode: "danger-full-access" } },
        responses: [
          [
            calls(
              "apply_patch",
              {
                input: patch(
                  "*** Update File: link",
                  "@@",
                  "-same",
                  "+new",
                  "*** Delete File: hello.txt",
                ),
              },
              "a",
            ),
            calls("apply_patch", { input: patch("*** Delete File: other") }, "b"),
          ],
        ],
      })
      for (const output of yield* outputs) assert.match(textOf(output), /^Success/)
      assert.deepStrictEqual(Fs.readdirSync(workspace), [".git", "link", "same"])
      assert.strictEqual(Fs.readFileSync(`${workspace}/same`, "utf8"), "new\n")
    }),
  )
})
