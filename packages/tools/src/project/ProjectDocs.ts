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
import { repositoryDirectories } from "./GitRoot.ts"

const fileName = "AGENTS.md"
const defaultMaxBytes = 32_768
const separator = "\n\n--- project-doc ---\n\n"

/**
 * The first `maxBytes` of a file as text, without a character that is cut. Undefined when there is no file, and for a
 * link to a file that no tool may read: a repository must not show the server's secrets to the model.
 */
const readHead = Effect.fnUntraced(
  function* (file: string, maxBytes: number, hidden: HiddenFiles.HiddenFiles, workspace: string) {
    const opened = yield* hidden.open(file, workspace)
    const bytes = yield* opened.read(maxBytes)
    // A streaming decoder withholds the bytes of an incomplete character.
    return { text: new TextDecoder().decode(bytes, { stream: true }), bytes: bytes.length }
  },
  Effect.scoped,
  (reading, file) =>
    Effect.catch(reading, ({ message, reason }) =>
      reason === "Missing" || reason === "Directory"
        ? Effect.undefined
        : Effect.as(Effect.logWarning(`${file} is not read: ${message}`), undefined),
    ),
)

const projectDocs = Effect.fnUntraced(function* (
  cwd: string,
  maxBytes: number,
  hiddenPaths: ReadonlyArray<string>,
) {
  const path = yield* Path.Path
  const hidden = HiddenFiles.make(hiddenPaths)
  const directories = (yield* repositoryDirectories(cwd)) ?? [cwd]
  const texts: Array<string> = []
  let left = maxBytes
  for (const directory of directories) {
    if (left <= 0) break
    const file = path.join(directory, fileName)
    const read = yield* readHead(file, left, hidden, directories[0] ?? cwd)
    if (read === undefined || read.text.trim() === "") continue
    left -= read.bytes
    texts.push(read.text)
  }
  return texts.join("\n\n")
})

/** Nothing is hidden from the user's own file, because no command can write it. */
const nothingHidden = HiddenFiles.make([])

/** The text for the model; undefined when there is none. A file that cannot be read is logged and left out. */
export const read = (options: {
  /** Working directory, an absolute path. */
  readonly cwd: string
  /** Absolute path; absent: there is no state directory. */
  readonly stateDirectory?: string
  /** Paths that no file of a project may lead to, besides the state directory. Absolute. */
  readonly hiddenPaths?: ReadonlyArray<string>
  /** Limit for the files of the project together; 0 reads none of them. Default 32,768, as in the original. */
  readonly maxBytes?: number
}): Effect.Effect<string | undefined, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const { hiddenPaths = [], stateDirectory: state } = options
    const personal =
      state === undefined
        ? undefined
        : yield* readHead(path.join(state, fileName), defaultMaxBytes, nothingHidden, state)
    const maxBytes = options.maxBytes ?? defaultMaxBytes
    const hidden = [...(state === undefined ? [] : [state]), ...hiddenPaths]
    const project = maxBytes === 0 ? "" : yield* projectDocs(options.cwd, maxBytes, hidden)
    const parts = [personal?.text.trim() ?? "", project].filter((text) => text !== "")
    return parts.length === 0 ? undefined : parts.join(separator)
  })

/** Adds the text of the files to the settings of another resolver. */
export const layer = (options: {
  readonly stateDirectory?: string
  readonly hiddenPaths?: ReadonlyArray<string>
}): Layer.Layer<SettingsResolver, never, SettingsResolver | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    SettingsResolver,
    Effect.gen(function* () {
      const { resolve } = yield* SettingsResolver
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const withDocs = (settings: ConversationSettings) =>
        read({
          ...options,
          cwd: settings.cwd,
          ...(settings.projectDocMaxBytes === undefined
            ? {}
            : { maxBytes: settings.projectDocMaxBytes }),
        }).pipe(
          Effect.map((text) =>
            text === undefined ? settings : { ...settings, userInstructions: text },
          ),
          Effect.provideContext(services),
        )
      return { resolve: (overrides) => Effect.flatMap(resolve(overrides), withDocs) }
    }),
  )
