import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HostFailed, HostPort } from "../../../src/app/ports/HostPort.ts"
import { errorOf, resultOf, withApp } from "../../support/AppHarness.ts"

const host = {
  ...HostPort.none,
  gitDiffToRemote: ({ cwd }: ConversationSettings) =>
    cwd === "/work/repo"
      ? Effect.succeed({ sha: "abc", diff: "diff" })
      : Effect.fail(new HostFailed({ message: "not a git repository" })),
}

describe("gitDiffToRemote", () => {
  it.effect("returns the nearest commit of a remote and the diff against it", () =>
    withApp({ ports: { host } }, (app) =>
      Effect.gen(function* () {
        for (const [id, cwd] of ["/work/repo", "repo"].entries()) {
          assert.deepStrictEqual(resultOf(yield* app.ask(id, "gitDiffToRemote", { cwd })), {
            sha: "abc",
            diff: "diff",
          })
        }
      }),
    ),
  )

  it.effect("names the given directory if there is no such commit", () =>
    withApp({ ports: { host } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          errorOf(yield* app.ask(1, "gitDiffToRemote", { cwd: '/no "such"' })),
          {
            code: -32600,
            message: 'failed to compute git diff to remote for cwd: "/no \\"such\\""',
          },
        )
        assert.deepStrictEqual(errorOf(yield* app.ask(2, "gitDiffToRemote", {})), {
          code: -32600,
          message: "Invalid request: params.cwd: Missing key",
        })
      }),
    ),
  )
})
