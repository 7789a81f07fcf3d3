/**
 * Reads the beginnings of small text files, and reads an unchanged file once. A file is known by its identity, size and
 * times. Whether it may be shown is decided anew at every call: by what is hidden then, and by the path without links,
 * which is determined at every call. A file with several names is never remembered, because one of them may have become
 * a secret's.
 *
 * The times of a file have a resolution: a second change within it leaves no trace in them. A text is therefore
 * remembered only if the last change was longer ago than any resolution when the file was looked at.
 */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HiddenFiles from "../sandbox/HiddenFiles.ts"
import type { PathStamp, PathView } from "../sandbox/PathFacts.ts"

/** The beginning of a file. */
interface DocHead {
  readonly text: string
  /** Number of bytes that `text` was decoded from. */
  readonly bytes: number
}

/** Reads one file: at most `maxBytes` of it. Undefined when there is none, and for one that cannot be read or is hidden. */
type HeadOf = (file: string, maxBytes: number) => Effect.Effect<DocHead | undefined>

/** See the header. */
interface DocHeads {
  /** For one task in a workspace. */
  readonly reader: (workspace: string, view: PathView) => Effect.Effect<HeadOf>
}

/** Two seconds are the resolution of FAT, the coarsest of a file system in use. */
const marginMs = 2000
/** How many files are remembered, those used last; and up to which length each. */
const maxFiles = 64
const maxRememberedBytes = 65_536

interface Read extends DocHead {
  readonly device: bigint
  readonly inode: bigint
}

/**
 * The first `maxBytes` of a file as text, without a character that is cut. Undefined when there is no file, and for a
 * link to a file that no tool may read: a repository must not show the server's secrets to the model.
 */
const readHead = Effect.fnUntraced(
  function* (hidden: HiddenFiles.HiddenFiles, file: string, workspace: string, maxBytes: number) {
    const opened = yield* hidden.open(file, workspace)
    const bytes = yield* opened.read(maxBytes)
    const { device, inode } = opened.identity
    // A streaming decoder withholds the bytes of an incomplete character.
    const text = new TextDecoder().decode(bytes, { stream: true })
    return { text, bytes: bytes.length, device, inode } satisfies Read
  },
  Effect.scoped,
  (reading, _, file) =>
    Effect.catch(reading, ({ message, reason, why }) =>
      reason === "Missing" || reason === "Directory"
        ? Effect.undefined
        : Effect.as(Effect.logWarning(`${file} is not read: ${why ?? message}`), undefined),
    ),
)

/** Everything that a text depends on. Compared by its fields. */
interface Known {
  /** Its path, which may be a link. */
  readonly file: string
  /** The same path without links. */
  readonly real: string
  readonly workspace: string
  readonly maxBytes: number
  /** What is hidden. */
  readonly boundary: string
  readonly stamp: PathStamp
}

/** False for a file that was replaced after it was looked at: the stamp is not that of the text. */
const isRemembered = (exit: Exit.Exit<Read | undefined>, { stamp }: Known): boolean =>
  Exit.isSuccess(exit) &&
  exit.value !== undefined &&
  exit.value.bytes <= maxRememberedBytes &&
  exit.value.device === stamp.device &&
  exit.value.inode === stamp.inode

/** True for a file with one name whose last change is old enough to show in its times. */
const isSettled = ({ changedNs, links, type }: PathStamp, nowMs: number): boolean =>
  type === "File" && links === 1n && nowMs - Number(changedNs / 1_000_000n) >= marginMs

/** @param hidden opens the files that may be shown */
export const make = Effect.fnUntraced(function* (hidden: HiddenFiles.HiddenFiles) {
  const heads = yield* Cache.makeWith(
    ({ file, maxBytes, workspace }: Known) => readHead(hidden, file, workspace, maxBytes),
    {
      capacity: maxFiles,
      timeToLive: (exit, known) => (isRemembered(exit, known) ? "Infinity" : 0),
    },
  )
  const reader: DocHeads = {
    reader: Effect.fnUntraced(function* (workspace, view) {
      // Worked out for the first file that exists: most directories have none.
      const boundaryNow = yield* Effect.cached(hidden.boundary(workspace, view))
      return Effect.fnUntraced(function* (file, maxBytes) {
        const nowMs = yield* Clock.currentTimeMillis
        const found = view.lookNow(file)
        if (found?.type === "Missing") return undefined
        // Many repositories have one file of instructions, and links to it by the names that other programs read.
        const real = found?.type === "Link" ? yield* view.realPath(file) : file
        const stamp = real === file ? found : real === undefined ? undefined : view.lookNow(real)
        if (
          real === undefined ||
          stamp === undefined ||
          !("inode" in stamp) ||
          !isSettled(stamp, nowMs)
        ) {
          return yield* readHead(hidden, file, workspace, maxBytes)
        }
        const boundary = yield* boundaryNow
        return yield* Cache.get(heads, { file, real, workspace, maxBytes, boundary, stamp })
      })
    }),
  }
  return reader
})
