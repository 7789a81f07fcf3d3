/** Patches of the model, alone and within a script, over the files they are made for. */
import { encode } from "@colloquy/simulation/fuzz/Bytes"
import { type Edge, Violation } from "@colloquy/simulation/fuzz/Edge"
import { mutateJoined, textOf } from "@colloquy/simulation/fuzz/edges/Pure"
import * as PatchPlan from "@colloquy/tools/patch/PatchPlan"
import { intercept } from "@colloquy/tools/patch/Interception"
import * as PatchText from "@colloquy/tools/patch/PatchText"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { posix } from "node:path"
import { vectors } from "./PatchVectors.ts"

type FileState = Effect.Success<ReturnType<PatchPlan.FileReader>>

const state = (text: string): FileState => ({ _tag: "Text", text, isExecutable: false })

/** The files of each vector, and the line that names the first of them. */
const folders = vectors.map(({ input, patch }) => ({
  header: patch.split("\n").find((line) => line.startsWith("*** Update")) ?? "",
  files: new Map<string, FileState>(
    Object.entries(input).map(([name, text]) => [`/w/${name}`, state(text)]),
  ),
}))

type Folder = (typeof folders)[number]

const patches = vectors.map(({ patch }) => encode(patch))

/** Most sets of files on which a patch is tried. */
const maxFolders = 4

const foldersFor = (text: string): ReadonlyArray<Folder> =>
  folders.filter(({ header }) => text.includes(header)).slice(0, maxFolders)

const planned = (hunks: ReadonlyArray<PatchText.Hunk>, { files }: Folder) =>
  PatchPlan.make(hunks, "/w", { resolve: (...of) => posix.resolve(...of) }, (path) =>
    Effect.succeed(files.get(path) ?? { _tag: "Missing" }),
  )

const violation = (message: string) => new Violation({ law: "L13", message })

/** True for a patch that applies to these files. */
const applies = (hunks: ReadonlyArray<PatchText.Hunk>, folder: Folder) =>
  Effect.gen(function* () {
    const before = JSON.stringify([...folder.files])
    const plan = yield* planned(hunks, folder)
    if (JSON.stringify([...folder.files]) !== before) {
      return yield* violation("changes a file by planning")
    }
    if (plan.paths.some((path) => !path.startsWith("/"))) {
      return yield* violation("plans a path that is not absolute")
    }
    JSON.stringify(plan.changes)
    PatchPlan.summary(plan)
    if (plan.error === "") return yield* violation("refuses without a reason")
    return plan.error === undefined
  })

const run = (input: Uint8Array) =>
  Effect.gen(function* () {
    const text = textOf(input)
    for (const argv of [
      [text],
      ["apply_patch", text],
      ["bash", "-lc", text],
      ["bash", "-lc", `apply_patch <<'EOF'\n${text}\nEOF\n`],
    ]) {
      intercept(argv)
    }
    const parsed = PatchText.parse(text)
    if (Result.isFailure(parsed)) {
      const { line, message } = parsed.failure
      const lines = text.split("\n").length
      return line !== undefined && (line < 1 || line > lines)
        ? yield* violation(`names a line that does not exist: ${message.slice(0, 60)}`)
        : "rejected"
    }
    let isApplied = false
    for (const folder of foldersFor(text)) {
      isApplied = (yield* applies(parsed.success, folder)) || isApplied
    }
    return isApplied ? "accepted" : "rejected"
  })

/** Texts of patches and scripts. */
export const patchTexts: Edge = {
  name: "patch",
  summary: "Patches and scripts that hold them, over files in memory (tools/patch).",
  corpus: patches,
  mutate: mutateJoined("\n", patches),
  open: Effect.succeed({ run }),
}
