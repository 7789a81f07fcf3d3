/**
 * AGENTS.md: instructions for the model in the user's files, read once when a conversation is created: the file in the
 * state directory, then those from the root of the repository down to the working directory.
 */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as HiddenFiles from "../sandbox/HiddenFiles.ts"
import { pathCalls } from "../sandbox/NodeFiles.ts"
import * as PathFacts from "../sandbox/PathFacts.ts"
import * as DocHeads from "./DocHeads.ts"
import { repositoryDirectories } from "./GitRoot.ts"

const fileName = "AGENTS.md"
const defaultMaxBytes = 32_768
const separator = "\n\n--- project-doc ---\n\n"

/** Which files are read. */
export interface ProjectDocsOptions {
  /** Absolute path; absent: there is no state directory. */
  readonly stateDirectory?: string
  /** Paths that no file of a project may lead to, besides the state directory. Absolute. */
  readonly hiddenPaths?: ReadonlyArray<string>
}

/** The place of a conversation. */
export interface DocsOptions {
  /** Working directory, an absolute path. */
  readonly cwd: string
  /** Limit for the files of the project together; 0 reads none of them. Default 32,768, as in the original. */
  readonly maxBytes?: number
}

/** Reads the files as they are at each call. */
export interface ProjectDocs {
  /** The text for the model; undefined when there is none. A file that cannot be read is logged and left out. */
  readonly read: (
    options: DocsOptions,
  ) => Effect.Effect<string | undefined, never, FileSystem.FileSystem | Path.Path>
}

/** Nothing is hidden from the user's own file, because no command can write it. */
const nothingHidden = HiddenFiles.make([])

type Heads = Effect.Success<ReturnType<typeof DocHeads.make>>

const personalText = Effect.fnUntraced(function* (
  stateDirectory: string | undefined,
  heads: Heads,
  view: PathFacts.PathView,
) {
  if (stateDirectory === undefined) return ""
  const path = yield* Path.Path
  const headOf = yield* heads.reader(stateDirectory, view)
  return (yield* headOf(path.join(stateDirectory, fileName), defaultMaxBytes))?.text.trim() ?? ""
})

/** The texts from the root of the repository down to the directory, within the limit. */
const projectText = Effect.fnUntraced(function* (
  { cwd, maxBytes }: Required<DocsOptions>,
  heads: Heads,
  view: PathFacts.PathView,
) {
  const path = yield* Path.Path
  const directories = (yield* repositoryDirectories(cwd, view)) ?? [cwd]
  const headOf = yield* heads.reader(directories[0] ?? cwd, view)
  const texts: Array<string> = []
  let left = maxBytes
  for (const directory of directories) {
    if (left <= 0) break
    const head = yield* headOf(path.join(directory, fileName), left)
    if (head === undefined || head.text.trim() === "") continue
    left -= head.bytes
    texts.push(head.text)
  }
  return texts.join("\n\n")
})

/** @param calls looks at paths; those of this system by default */
export const make = Effect.fnUntraced(function* (
  { hiddenPaths = [], stateDirectory: state }: ProjectDocsOptions,
  calls: PathFacts.PathCalls = pathCalls,
) {
  const facts = PathFacts.make(calls)
  const hidden = HiddenFiles.make([
    ...new Set([...(state === undefined ? [] : [state]), ...hiddenPaths]),
  ])
  const projectHeads = yield* DocHeads.make(hidden)
  const personalHeads = yield* DocHeads.make(nothingHidden)

  const docs: ProjectDocs = {
    read: Effect.fnUntraced(function* ({ cwd, maxBytes = defaultMaxBytes }) {
      const view = yield* facts.view
      const personal = yield* personalText(state, personalHeads, view)
      const project =
        maxBytes === 0 ? "" : yield* projectText({ cwd, maxBytes }, projectHeads, view)
      const parts = [personal, project].filter((text) => text !== "")
      return parts.length === 0 ? undefined : parts.join(separator)
    }),
  }
  return docs
})

/** Reads the files once, without anything remembered from an earlier call. */
export const read = (
  options: ProjectDocsOptions & DocsOptions,
): Effect.Effect<string | undefined, never, FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(make(options), (docs) => docs.read(options))

/** Adds the text of the files to the settings of another resolver. */
export const layer = (
  options: ProjectDocsOptions,
): Layer.Layer<SettingsResolver, never, SettingsResolver | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    SettingsResolver,
    Effect.gen(function* () {
      const { resolve } = yield* SettingsResolver
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const docs = yield* make(options)
      const withDocs = (settings: ConversationSettings) =>
        docs
          .read({
            cwd: settings.cwd,
            ...(settings.projectDocMaxBytes === undefined
              ? {}
              : { maxBytes: settings.projectDocMaxBytes }),
          })
          .pipe(
            Effect.map((text) =>
              text === undefined ? settings : { ...settings, userInstructions: text },
            ),
            Effect.provideContext(services),
          )
      return { resolve: (overrides) => Effect.flatMap(resolve(overrides), withDocs) }
    }),
  )
