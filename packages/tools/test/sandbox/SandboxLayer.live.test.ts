import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"

const machines: ReadonlyArray<readonly [platform: string, processor: string, reason: RegExp]> = [
  ["win32", "x64", /no sandbox for win32/],
  ["linux", "mips", /no system call filter for this processor|not found/],
  ["darwin", "arm64", /sandbox-exec is missing/],
]

describe("SandboxLayer", () => {
  for (const [platform, processor, reason] of machines) {
    it.live(
      `L15 confines nothing on ${platform} ${processor} without its sandbox, and says why`,
      () =>
        Effect.gen(function* () {
          const sandbox = yield* Sandbox
          const status = yield* sandbox.status
          assert.strictEqual(status._tag, "Unavailable")
          const failure = yield* Effect.flip(
            sandbox.confine({ argv: ["true"], cwd: "/", env: {} }, { mode: "read-only" }, "/"),
          )
          assert.strictEqual(failure.reason, "Sandbox")
          assert.match(failure.message, reason)
        }).pipe(
          Effect.scoped,
          Effect.provide(
            SandboxLayer.layer({
              environment: { PATH: "/usr/bin" },
              hiddenPaths: [],
              machine: { platform, processor },
            }).pipe(
              Layer.provide(TrustedPrograms.layer({ environment: { PATH: "/usr/bin" } })),
              Layer.provide(NodeServices.layer),
            ),
          ),
        ),
    )
  }
})
