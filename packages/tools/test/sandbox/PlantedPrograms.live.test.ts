/**
 * A confined command plants programs where the server's PATH finds them first. Nothing that the server starts for its
 * own purposes may be one of them. The control starts the planted program by its name through the same PATH.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls, type Response, outputsOf, play, says } from "../support/Machine.ts"

/** Writes a program that leaves a file named `ran-NAME` where no confined command can write. */
const plant = (name: string) =>
  [
    `printf '#!/bin/sh\\n: > "$(dirname "$0")/../../ran-${name}"\\nexit 1\\n'`,
    `> node_modules/.bin/${name} && chmod 755 node_modules/.bin/${name}`,
  ].join(" ")

/** So different, and so long, that the server leaves the difference to git. */
const long = (word: string, prefix: string): string =>
  Array.from({ length: 20_000 }, (_, i) => `${prefix}${i % 2 === 0 ? `${word}${i}` : "}"}\n`).join(
    "",
  )

const shell = (script: string, id: string): Response => [
  calls("shell", { command: ["bash", "-c", script] }, id),
]

const largePatch: Response = [
  calls(
    "apply_patch",
    { input: `*** Begin Patch\n*** Add File: long.txt\n${long("b", "+")}*** End Patch\n` },
    "patch",
  ),
]

const writeLong =
  "i=0; while [ $i -lt 10000 ]; do echo a$((i*2)); echo '}'; i=$((i+1)); done > long.txt"

describe.skipIf(!hasBubblewrap)("Planted programs", () => {
  it.live("L15 a `git` planted on PATH by a confined command is not run for the turn diff", () =>
    Effect.gen(function* () {
      const played = yield* play({
        settings: { sandboxPolicy: { mode: "workspace-write" }, approvalPolicy: "never" },
        environment: (workspace) => ({
          PATH: `${workspace}/node_modules/.bin:${process.env["PATH"]}`,
        }),
        responses: [
          shell(`mkdir -p node_modules/.bin && ${plant("git")} && ${writeLong}`, "plant"),
          largePatch,
          [says("done")],
        ],
      })
      const [planted] = outputsOf(played)
      assert.include(planted, '"exit_code":0')
      assert.include(Object.keys(played.files), "node_modules/.bin/git")
      assert.notInclude(Object.keys(played.files), "ran-git")
      const diff = played.messages.findLast(({ type }) => type === "turn_diff")
      assert.isDefined(diff)
    }),
  )
})
