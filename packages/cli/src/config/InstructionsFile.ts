/** Reads `experimental_instructions_file`: the text that replaces the built-in system instructions. */
import { type ConversationSettings, SettingsError } from "@colloquy/core/ConversationSettings"
import { readFile } from "@colloquy/store/node/ReadFile"
import * as Effect from "effect/Effect"
import { problemOf } from "./ConfigFile.ts"

const key = "experimental_instructions_file"

/** Largest file: a longer system message would leave little of the context window for the conversation. */
const maxBytes = 256 * 1024

const problem = (path: string, text: string) =>
  new SettingsError({ message: `${path}: ${text}\nin \`${key}\`\n`, key })

const readText = (path: string) =>
  Effect.try({
    try: () => new TextDecoder().decode(readFile(path, maxBytes)).trim(),
    catch: (error) => problem(path, problemOf(error)),
  })

/** Returns the settings with the instructions. Fails if the file cannot be read or is empty. */
export const read = Effect.fnUntraced(function* (
  settings: ConversationSettings,
): Effect.fn.Return<ConversationSettings, SettingsError> {
  const { baseInstructionsFile: path, ...rest } = settings
  if (path === undefined) return settings
  if (settings.baseInstructions !== undefined) return rest
  const text = yield* readText(path)
  if (text === "") return yield* problem(path, "is empty")
  return { ...rest, baseInstructions: text }
})
