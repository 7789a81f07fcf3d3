import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"
import type { FileState } from "../../src/patch/Operation.ts"
import * as PatchText from "../../src/patch/PatchText.ts"
import * as Utf8 from "../../src/patch/Utf8.ts"
import vectors from "../fixtures/apply-patch-vectors.json" with { type: "json" }

const cwd = "/work/space"

/** The bytes of a file's content; `__LATIN1` at its end means that each character is one byte. */
const bytesOf = (content: string): Uint8Array =>
  content.endsWith("__LATIN1")
    ? Uint8Array.from(content.slice(0, -8), (c) => c.charCodeAt(0))
    : new TextEncoder().encode(content)

const stateOf = (content: string): FileState => {
  const bytes = bytesOf(content)
  return Result.match(Utf8.decode(bytes), {
    onSuccess: (text) => ({ _tag: "Text" as const, text, isExecutable: false }),
    onFailure: (reason) => ({ _tag: "Binary" as const, bytes, reason }),
  })
}

/** Runs a patch over files in memory the way the original's program runs it. */
const run = (input: Readonly<Record<string, string>>, patch: string) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const files = new Map(Object.entries(input).map(([name, c]) => [`${cwd}/${name}`, stateOf(c)]))
    const parsed = PatchText.parse(patch)
    const shown = () =>
      Object.fromEntries(
        [...files]
          .filter(([name]) => name.startsWith(`${cwd}/`))
          .map(([name, state]) => [
            name.slice(cwd.length + 1),
            state._tag === "Binary"
              ? new TextDecoder().decode(state.bytes)
              : state._tag === "Text"
                ? state.text
                : "",
          ]),
      )
    if (Result.isFailure(parsed)) {
      return { exit: 1, stdout: "", stderr: `${parsed.failure.standalone}\n`, files: shown() }
    }
    const plan = yield* PatchPlan.make(parsed.success, cwd, path, (name) =>
      Effect.succeed(files.get(name) ?? { _tag: "Missing" }),
    )
    for (const operation of plan.operations) {
      if (operation._tag !== "Write") files.delete(operation.path)
      if (operation._tag === "Write") files.set(operation.path, stateOf(operation.content))
      if (operation._tag === "Move") files.set(operation.to, stateOf(operation.content))
    }
    return plan.error === undefined
      ? { exit: 0, stdout: PatchPlan.summary(plan), stderr: "", files: shown() }
      : { exit: 1, stdout: "", stderr: `${plan.error}\n`, files: shown() }
  }).pipe(Effect.provide(Path.layer))

describe("patch vectors: the answers of version 0.169", () => {
  for (const { codex_0_169: expected, input, name, patch } of vectors) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const actual = yield* run(input, patch)
        const files: Record<string, string> =
          // The original has a defect here: it deletes a file that is moved to the path that it already has.
          name === "move_same_path" ? { "a.txt": "b\n" } : { ...expected.files }
        assert.deepStrictEqual(actual, {
          ...expected,
          stderr: expected.stderr.replaceAll("$CWD", cwd),
          files,
        })
      }),
    )
  }
})
