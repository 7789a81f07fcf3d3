/**
 * AGENTS.md (§6.10): what a person's files tell the model, read once when a conversation is made: the one of the state
 * directory, then those from the root of the repository down to the working directory.
 */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { repositoryDirectories } from "./GitRoot.ts"
import { readHead } from "./ReadHead.ts"

const fileName = "AGENTS.md"
const defaultMaxBytes = 32_768
const separator = "\n\n--- project-doc ---\n\n"

/** At most `maxBytes` of a file as text; a character that is cut is left out. Undefined where there is none. */
const readDoc = Effect.fnUntraced(function* (path: string, maxBytes: number) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(path))
  if (Option.isNone(info) || info.value.type !== "File") return undefined
  const bytes = yield* readHead(path, maxBytes)
  // A streaming decoder keeps back the bytes of a character that is not whole.
  return { text: new TextDecoder().decode(bytes, { stream: true }), bytes: bytes.length }
})

const isBelow = (path: string, root: string) => path === root || path.startsWith(`${root}/`)

/**
 * True for a file of a project that is a link to what no tool may read: a repository must not put the secrets of the
 * server, its files or its environment, before the model.
 */
const leadsToSecrets = Effect.fnUntraced(function* (
  directory: string,
  stateDirectory: string | undefined,
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const realOf = (at: string) => Effect.orElseSucceed(fs.realPath(at), () => at)
  const own = yield* realOf(directory)
  const file = yield* realOf(path.join(directory, fileName))
  const secrets = [
    "/proc",
    ...(stateDirectory === undefined ? [] : [yield* realOf(stateDirectory)]),
  ]
  return secrets.some((secret) => isBelow(file, secret) && !isBelow(own, secret))
})

const projectDocs = Effect.fnUntraced(function* (
  cwd: string,
  maxBytes: number,
  stateDirectory: string | undefined,
) {
  const path = yield* Path.Path
  const texts: Array<string> = []
  let left = maxBytes
  for (const directory of (yield* repositoryDirectories(cwd)) ?? [cwd]) {
    if (left <= 0) break
    if (yield* leadsToSecrets(directory, stateDirectory)) {
      yield* Effect.logWarning(
        `${fileName} of ${directory} leads to what is secret, and is not read`,
      )
      continue
    }
    const read = yield* readDoc(path.join(directory, fileName), left)
    if (read === undefined || read.text.trim() === "") continue
    left -= read.bytes
    texts.push(read.text)
  }
  return texts.join("\n\n")
})

/** The text for the model, or undefined when no file says anything. What cannot be read is logged and left out. */
export const read = (options: {
  /** Absolute. */
  readonly cwd: string
  /** Absolute; absent: none. */
  readonly stateDirectory?: string
  /** Of the project's files together; 0 reads none of them. Default 32,768. */
  readonly maxBytes?: number
}): Effect.Effect<string | undefined, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const personal =
      options.stateDirectory === undefined
        ? undefined
        : yield* readDoc(path.join(options.stateDirectory, fileName), defaultMaxBytes)
    const maxBytes = options.maxBytes ?? defaultMaxBytes
    const project =
      maxBytes === 0 ? "" : yield* projectDocs(options.cwd, maxBytes, options.stateDirectory)
    const parts = [personal?.text.trim() ?? "", project].filter((text) => text !== "")
    return parts.length === 0 ? undefined : parts.join(separator)
  }).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`${fileName} could not be read: ${error.message}`), undefined),
    ),
  )

/** Adds the files' text to the settings that another resolver gives. */
export const layer = (options: {
  readonly stateDirectory?: string
}): Layer.Layer<SettingsResolver, never, SettingsResolver | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    SettingsResolver,
    Effect.gen(function* () {
      const { resolve } = yield* SettingsResolver
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const withDocs = (settings: ConversationSettings) =>
        read({
          cwd: settings.cwd,
          ...(options.stateDirectory === undefined
            ? {}
            : { stateDirectory: options.stateDirectory }),
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
