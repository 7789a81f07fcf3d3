import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { codeOf, textOf } from "../support/CommandOutput.ts"
import { calls } from "../support/Machine.ts"
import { perform } from "../support/Stage.ts"

const environment = {
  OPENAI_API_KEY: "sk-secret-one",
  MY_PROVIDER: "sk-secret-two",
  LEGACY_TOKEN: "sk-secret-three",
  HARMLESS: "seen",
}

const everything = {
  inherit: "all",
  ignoreDefaultExcludes: true,
  exclude: [],
  set: { OPENAI_API_KEY: "sk-secret-four", my_provider: "sk-secret-five" },
  includeOnly: [],
} as const

const places = [
  ["without a sandbox", "danger-full-access", true],
  ["in the sandbox", "workspace-write", hasBubblewrap],
] as const

const secret = /sk-secret/

describe("secrets of the server", () => {
  for (const [where, mode, possible] of places) {
    it.live.skipIf(!possible)(`no key is in the environment of a command ${where}`, () =>
      Effect.gen(function* () {
        const { messages, outputs } = yield* perform(
          { environment, secretNames: ["MY_PROVIDER"] },
          {
            settings: { approvalPolicy: "never", sandboxPolicy: { mode } },
            responses: [[calls("shell", { command: ["env"] }, "a")]],
          },
        )
        assert.include(textOf(outputs[0]), "HARMLESS=seen")
        assert.notMatch(JSON.stringify([messages, outputs]), secret)
      }),
    )

    it.live.skipIf(!possible)(`no setting brings the keys of providers back, ${where}`, () =>
      Effect.gen(function* () {
        const { outputs } = yield* perform(
          { environment },
          {
            settings: {
              approvalPolicy: "never",
              sandboxPolicy: { mode },
              shellEnvironment: everything,
              // The provider as the configuration named it when this conversation began.
              secretNames: ["MY_PROVIDER"],
            },
            responses: [[calls("shell", { command: ["bash", "-c", "env"] }, "a")]],
          },
        )
        const text = textOf(outputs[0])
        assert.include(text, "LEGACY_TOKEN=sk-secret-three")
        assert.notMatch(text.replaceAll("sk-secret-three", ""), secret)
      }),
    )
  }

  const hidden = {
    prepare: (ws: string) => {
      Fs.mkdirSync(`${ws}/state`)
      Fs.writeFileSync(`${ws}/state/auth.json`, "sk-secret-six\n")
      Fs.symlinkSync("state/auth.json", `${ws}/link`)
    },
    hiddenPaths: (ws: string) => [`${ws}/state`],
  }
  const ways: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["by its name", ["cat", "state/auth.json"]],
    ["through a link", ["cat", "link"]],
    ["in a script that only reads", ["bash", "-lc", "cat state/auth.json | head -n 1"]],
    ["by searching", ["grep", "-r", "secret", "."]],
    ["by .. and back", ["cat", "../ws/state/../state/auth.json"]],
  ]
  for (const [way, command] of ways) {
    for (const policy of ["untrusted", "on-request", "never"] as const) {
      it.live.skipIf(!hasBubblewrap)(
        `${policy}: a trusted command that reads runs unasked, and reads nothing hidden ${way}`,
        () =>
          Effect.gen(function* () {
            const { messages, outputs } = yield* perform(hidden, {
              settings: { approvalPolicy: policy, sandboxPolicy: { mode: "workspace-write" } },
              responses: [[calls("shell", { command }, "a")]],
            })
            assert.isUndefined(messages.find(({ type }) => type === "exec_approval_request"))
            assert.isAtLeast(codeOf(outputs[0]), 0)
            assert.notMatch(JSON.stringify([messages, outputs]), secret)
          }),
      )
    }
  }
})
