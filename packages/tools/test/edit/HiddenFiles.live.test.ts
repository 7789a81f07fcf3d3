import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls } from "../support/Machine.ts"
import { stage } from "../support/Stage.ts"

const patch = (...lines: ReadonlyArray<string>) =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")

const secret = "the key is 4711"
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

/** Creates the state directory beside the workspace. The server's path to it is a link, as a home directory may be. */
const prepare = (ws: string): void => {
  const state = `${ws}/../state`
  Fs.mkdirSync(state)
  Fs.writeFileSync(`${state}/auth.json`, `${secret}\n`)
  Fs.writeFileSync(`${state}/shot.png`, png)
  Fs.symlinkSync("state", `${ws}/../known-as`)
  Fs.symlinkSync("../state/auth.json", `${ws}/link`)
  Fs.symlinkSync("../state", `${ws}/linked-dir`)
}
const hiddenPaths = (ws: string) => [`${ws}/../known-as`]

const hidden = ["../state/auth.json", "../known-as/auth.json", "link", "linked-dir/auth.json"]

const attacks: Readonly<Record<string, (path: string) => string>> = {
  changes: (path) => patch(`*** Update File: ${path}`, "@@", `-${secret}`, "+new"),
  "changes by guessing": (path) => patch(`*** Update File: ${path}`, "@@", "+new"),
  deletes: (path) => patch(`*** Delete File: ${path}`),
  overwrites: (path) => patch(`*** Add File: ${path}`, "+new"),
  "moves out": (path) => patch(`*** Update File: ${path}`, "*** Move to: mine", "@@", "+new"),
  "moves over": (path) =>
    patch("*** Update File: hello.txt", `*** Move to: ${path}`, "@@", "-hello", "+new"),
}

const rules = [
  [
    "never, danger-full-access",
    { approvalPolicy: "never", sandboxPolicy: { mode: "danger-full-access" } },
    true,
  ],
  [
    "on-request, workspace-write, approved",
    { approvalPolicy: "on-request", sandboxPolicy: { mode: "workspace-write" } },
    hasBubblewrap,
  ],
] as const

describe("hidden files", () => {
  for (const [name, settings, possible] of rules) {
    for (const [attack, textOf] of Object.entries(attacks)) {
      it.live.skipIf(!possible)(
        `${name}: a patch that ${attack} is refused and shows nothing`,
        () =>
          Effect.gen(function* () {
            const { begin, workspace } = yield* stage({ prepare, hiddenPaths })
            for (const path of hidden) {
              const { messages, outputs } = yield* begin({
                settings,
                answers: ["approved"],
                responses: [[calls("apply_patch", { input: textOf(path) }, "a")]],
              })
              const [texts = ""] = yield* outputs
              assert.match(texts, /^error: Failed to/)
              const types = messages.map(({ type }) => type)
              assert.notInclude(types, "patch_apply_begin")
              assert.notInclude(types, "apply_patch_approval_request")
              // What the model itself has written is in its call.
              const isOfModel = (type: string) =>
                type === "raw_response_item" ||
                (attack === "changes" && type.startsWith("tool_call_"))
              const events = messages.filter(({ type }) => !isOfModel(type))
              assert.notInclude(JSON.stringify(events), secret)
              if (attack !== "changes") assert.notInclude(texts, secret)
              const file = `${workspace}/../state/auth.json`
              assert.strictEqual(Fs.readFileSync(file, "utf8"), `${secret}\n`)
              assert.isFalse(Fs.existsSync(`${workspace}/mine`))
            }
          }),
      )
    }
  }

  for (const path of ["/proc/self/environ", "environ"]) {
    it.live(`a file that describes the server itself cannot be patched: ${path}`, () =>
      Effect.gen(function* () {
        const { begin } = yield* stage({
          prepare: (ws) => Fs.symlinkSync("/proc/self/environ", `${ws}/environ`),
        })
        const { messages, outputs } = yield* begin({
          settings: { approvalPolicy: "on-request", sandboxPolicy: { mode: "workspace-write" } },
          answers: ["denied"],
          responses: [[calls("apply_patch", { input: patch(`*** Delete File: ${path}`) }, "a")]],
        })
        assert.match((yield* outputs)[0] ?? "", /^error: Failed to delete file /)
        const types = messages.map(({ type }) => type)
        assert.notInclude(types, "apply_patch_approval_request")
      }),
    )
  }

  it.live("an image is not attached from there, whatever path leads to it", () =>
    Effect.gen(function* () {
      const { begin } = yield* stage({ prepare, hiddenPaths })
      const paths = ["../state/shot.png", "../known-as/shot.png", "linked-dir/shot.png"]
      const { outputs } = yield* begin({
        settings: { approvalPolicy: "never", sandboxPolicy: { mode: "danger-full-access" } },
        responses: [paths.map((path, n) => calls("view_image", { path }, `call-${n}`))],
      })
      assert.deepStrictEqual(
        yield* outputs,
        paths.map((path) => `unable to attach image \`${path}\`: it may not be read`),
      )
    }),
  )
})
