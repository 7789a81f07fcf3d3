/**
 * The text of `turn_diff`: what the patches of a turn changed, in the style of git. A moved file is one entry with both
 * names (as recorded in packages/server/test/fixtures/v0.29.0/patch_auto.jsonl). Reads no files: changes made by
 * commands are not in it.
 */
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import { gitRoot } from "../project/GitRoot.ts"
import { pathCalls } from "../sandbox/NodeFiles.ts"
import * as PathFacts from "../sandbox/PathFacts.ts"
import type { HunksOf } from "./GitDiff.ts"
import type { FileState, Operation } from "./Operation.ts"
import * as TurnFiles from "./TurnFiles.ts"

const noOid = "0".repeat(40)
const context = 3

const bytesOf = (state: FileState): Uint8Array =>
  state._tag === "Binary"
    ? state.bytes
    : new TextEncoder().encode(state._tag === "Text" ? state.text : "")

/** Object id of the content in git. */
const oid = (state: FileState) =>
  Effect.gen(function* () {
    if (state._tag === "Missing") return noOid
    const digest = yield* Digest.Digest
    const bytes = bytesOf(state)
    const head = new TextEncoder().encode(`blob ${bytes.length}\0`)
    const blob = new Uint8Array(head.length + bytes.length)
    blob.set(head)
    blob.set(bytes, head.length)
    return yield* digest.digestHex(Digest.sha1, blob)
  })

const mode = (state: FileState): string =>
  state._tag === "Text" && state.isExecutable ? "100755" : "100644"

/** Git quotes names that contain quotes, backslashes or control characters. */
const named = (side: "a" | "b", path: string): string => {
  const name = `${side}/${path}`
  // oxlint-disable-next-line no-control-regex
  return /["\\\u0000-\u001f]/.test(name) ? JSON.stringify(name) : name
}

const isBinary = (state: FileState): boolean =>
  state._tag === "Binary" || (state._tag === "Text" && state.text.includes("\0"))

const textOf = (state: FileState): string => (state._tag === "Text" ? state.text : "")

/** The path of a file inside `root` relative to it, otherwise the absolute path. */
const shownFrom = (path: Path.Path, root: string, file: string): string => {
  const relative = path.relative(root, file)
  const isInside = relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative)
  return (isInside ? relative : file.replace(/^\/+/, "")).replaceAll("\\", "/")
}

/** What is the same for all files of a turn. */
interface Base {
  readonly root: string
  readonly path: Path.Path
  readonly hunks: HunksOf
}

const fileDiff = Effect.fn("TurnDiff.fileDiff")(function* (
  { before, from, now, to }: TurnFiles.TurnFile,
  { hunks, path, root }: Base,
) {
  const [left, right] = [shownFrom(path, root, from), shownFrom(path, root, to)]
  const lines = [`diff --git ${named("a", left)} ${named("b", right)}\n`]
  const [oldOid, newOid] = [yield* oid(before), yield* oid(now)]
  if (before._tag === "Missing") lines.push(`new file mode ${mode(now)}\n`)
  if (now._tag === "Missing") lines.push(`deleted file mode ${mode(before)}\n`)
  if (oldOid === newOid) {
    return [...lines, `similarity index 100%\nrename from ${left}\nrename to ${right}\n`].join("")
  }
  lines.push(`index ${oldOid}..${newOid}\n`)
  if (isBinary(before) || isBinary(now)) return [...lines, "Binary files differ\n"].join("")
  const changes = yield* hunks(textOf(before), textOf(now), context)
  if (changes === "") return lines.join("")
  lines.push(`--- ${before._tag === "Missing" ? "/dev/null" : named("a", left)}\n`)
  lines.push(`+++ ${now._tag === "Missing" ? "/dev/null" : named("b", right)}\n`)
  return [...lines, changes].join("")
})

/** The diff of one turn. */
export interface TurnDiff {
  /**
   * Adds the performed operations of a patch, in order. Returns the text to be sent: everything that the turn changed
   * so far; undefined when there is nothing, or nothing new.
   */
  readonly add: (operations: ReadonlyArray<Operation>) => Effect.Effect<string | undefined>
}

/**
 * Returns a constructor for the diff of a turn in `cwd` (absolute): names are relative to its git root.
 *
 * @param calls looks for the root; those of this system by default
 */
export const make = (
  hunks: HunksOf,
  calls: PathFacts.PathCalls = pathCalls,
): Effect.Effect<
  (cwd: string) => Effect.Effect<TurnDiff>,
  never,
  FileSystem.FileSystem | Path.Path
> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const facts = PathFacts.make(calls)
    return Effect.fn("TurnDiff.make")(function* (cwd: string) {
      const root = yield* Effect.provide(gitRoot(cwd, yield* facts.view), services)
      const files = yield* Ref.make(TurnFiles.empty())
      const sent = yield* Ref.make("")
      const render = (turn: TurnFiles.TurnFiles) =>
        Effect.forEach(TurnFiles.changed(turn), (file) =>
          fileDiff(file, { root, path, hunks }),
        ).pipe(
          Effect.map((texts) => texts.join("")),
          Effect.provide(Digest.layerWebCrypto),
        )
      return {
        add: Effect.fn("TurnDiff.add")(function* (operations: ReadonlyArray<Operation>) {
          const turn = yield* Ref.updateAndGet(files, (now) => TurnFiles.record(now, operations))
          const text = yield* render(turn)
          const last = yield* Ref.getAndSet(sent, text)
          return text === "" || text === last ? undefined : text
        }),
      }
    })
  })
